"""`python -m tapegrad compile SCRIPT`: which function of a script trains, and what compiling gains.

The script runs twice, each time in a process of its own: as it is, with the calls of its functions
timed; then with the function that trains given to `torch.compile`.
"""

import ast
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from statistics import median
from time import process_time
from typing import Any

from tapegrad.compat import script as scripts

_FIRST = 3  # calls that are left out: the first, the recorded one, and one to warm up


def compile_script(path: str, args: Sequence[str] = ()) -> int:
    """Run a script as it is and compiled, and say what changed; 0 if something was compiled."""
    eager = _run(path, "", args)
    if eager is None:
        return 1
    steps = {name: x for name, x in eager["functions"].items() if x["trains"] and x["n"] > _FIRST}
    if not steps:
        print(
            f"{path}: no function trains and is called more than {_FIRST} times.\n"
            "Put the body of the loop into a function, forward, backward() and optimizer.step(), "
            "and call it in the loop."
        )
        return 1
    name = max(steps, key=lambda each: steps[each]["seconds"] * steps[each]["n"])
    compiled = _run(path, name, args)
    if compiled is None:
        return 1
    before, after = steps[name]["seconds"], compiled["functions"][name]["seconds"]
    print(f"{path}: {name}(), {steps[name]['n']} calls")
    print(f"  as it is   {_time(before)} a call")
    print(f"  compiled   {_time(after)} a call, {before / after:.1f} times as fast")
    for line in compiled["explanation"].splitlines():
        print(f"  {line}")
    return 0


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _run(path: str, name: str, args: Sequence[str]) -> dict | None:
    """Run the script in a process of its own; what was seen, None if it failed."""
    handle, report = tempfile.mkstemp(".json")
    os.close(handle)
    try:
        command = [sys.executable, "-m", "tapegrad.compiler.script", report, name, path, *args]
        done = subprocess.run(command, check=False)
        if done.returncode:
            print(f"tapegrad: {path} ended with status {done.returncode}", file=sys.stderr)
            return None
        with open(report) as file:
            return json.load(file)
    finally:
        os.remove(report)


class _Watched:
    """A function of the script: its calls are timed, and asked whether they train."""

    def __init__(self, function: Any, compiled: bool):
        functools.update_wrapper(self, function)
        self.function, self.name = function, function.__qualname__
        self.compiled: Any = None
        if compiled:
            from tapegrad.compiler.compile import compile

            self.compiled = compile(function)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        entry = SEEN.setdefault(self.name, {"times": [], "trains": False})
        STACK.append(entry)
        if self.compiled is not None and len(entry["times"]) == _FIRST:
            self.compiled.wait()
        start = process_time()
        try:
            return (self.function if self.compiled is None else self.compiled)(*args, **kwargs)
        finally:
            entry["times"].append(process_time() - start)
            STACK.pop()


SEEN: dict[str, dict] = {}
STACK: list[dict] = []
WATCHED: list[_Watched] = []


class _Decorated(ast.NodeTransformer):
    """The functions of a script, each watched."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Put the decorator around the others."""
        self.generic_visit(node)
        if not (node.name.startswith("__") or node.decorator_list):
            node.decorator_list.insert(0, ast.Name("__tapegrad_watched__", ast.Load()))
        return node


def _watch(path: str, chosen: str, args: Sequence[str], report: str) -> None:
    """Run a script with its functions watched, and write what was seen."""
    from tapegrad.optim.optimizer import register_optimizer_step_post_hook

    def trains(*_: Any) -> None:
        if STACK:
            STACK[-1]["trains"] = True

    def watched(function: Any) -> Any:
        if chosen and function.__qualname__ != chosen:
            return function
        made = _Watched(function, bool(chosen))
        WATCHED.append(made)
        return made

    handle = None if chosen else register_optimizer_step_post_hook(trains)
    parse = ast.parse

    def run_source(source: Any, file: str, main: Any) -> None:
        tree = ast.fix_missing_locations(_Decorated().visit(parse(source, file)))
        main.__dict__["__tapegrad_watched__"] = watched
        exec(compile(tree, file, "exec", dont_inherit=True), main.__dict__)

    scripts._run_source = run_source
    try:
        status = scripts.run(path, args)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 0
    if handle is not None:
        handle.remove()
    found: dict[str, Any] = {"functions": {}, "explanation": ""}
    for name, entry in SEEN.items():
        times = entry["times"]
        seconds = median(times[_FIRST:] or times)
        found["functions"][name] = {
            "n": len(times), "seconds": seconds, "trains": entry["trains"] or bool(chosen),
        }  # fmt: skip
    for each in WATCHED:
        if each.compiled is not None:
            found["explanation"] = str(each.compiled.explain())
    with open(report, "w") as file:
        json.dump(found, file)
    sys.exit(status)


if __name__ == "__main__":
    _watch(sys.argv[3], sys.argv[2], sys.argv[4:], sys.argv[1])
