"""`tapegrad graph` and `tapegrad explain`: a script is run, and what it computed is looked at."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from tapegrad.compat import script
from tapegrad.compat.script import run
from tapegrad.inspect.explanation import explain
from tapegrad.inspect.graphing import graph
from tapegrad.inspect.watching import watch
from tapegrad.profiler import profile
from tapegrad.tensors.tensor import Tensor


def graph_of(path: str, args: Sequence[str], of: str, output: str) -> int:
    """Run a script and write the graph of its variable `of` to the file `output`."""
    found, status = _run(path, args, [of], gradients=True)
    if found is None:
        return status
    variables, named = found
    value = _value(variables, of)
    if not isinstance(value, (Tensor, tuple, list)):
        print(f"tapegrad: {_missing(of, value, variables)}", file=sys.stderr)
        return 1
    try:
        drawn = graph(value, params=named, title=f"{of} of {path}")
        drawn.save(output)
    except (TypeError, ValueError, OSError) as error:
        print(f"tapegrad: {error}", file=sys.stderr)
        return 1
    n = sum(v.kind == "operator" for v in drawn.record.vertices)
    print(f"{output}: the graph of {of}, {n:,} operators")
    return status


def explanation_of(path: str, args: Sequence[str], of: Sequence[str]) -> int:
    """Run a script and explain the gradients of the variables `of`.

    Without any, of every leaf among its variables, and parameter of its models, that requires grad
    and has no gradient, or one of zeros, nan or infinity.
    """
    found, status = _run(path, args, of)
    if found is None:
        return status
    variables, named = found
    if of:
        chosen: dict[str, Any] = {name: _value(variables, name) for name in of}
    else:
        chosen = {name: x for name, x in named.items() if _is_doubtful(x)}
        if not named:
            print("No variable of the script is a leaf that requires grad, or has a parameter.")
        elif not chosen:
            print("Every leaf that requires grad has a gradient that is finite and not zero.")
    for name, x in chosen.items():
        if not isinstance(x, Tensor):
            print(f"tapegrad: {_missing(name, x, variables)}", file=sys.stderr)
            return 1
        print(f"{name}\n  " + str(explain(x)).replace("\n", "\n  "))
    return status


def _run(
    path: str, args: Sequence[str], names: Sequence[str], gradients: bool = False
) -> tuple[Any, int]:
    """Run a script under `watch()`: its variables and the leaves among them by name, and status.

    Where one of `names` is only a variable of the script's functions, or where there are no names,
    the variables of a function that has returned count too, as they were in the end. A script that
    ends by SystemExit has run to its end; other errors pass through.
    """
    status = 0
    inner: dict[str, Any] = {}
    with watch(gradients), _remembered(_functions(path, names), inner):
        try:
            status = script.run(path, args)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
            if isinstance(end.code, str):
                print(end.code, file=sys.stderr)
    main = sys.modules["__main__"]
    if getattr(main, "__file__", None) != script.absolute(path):
        return None, status  # it could not be read
    variables = {**inner, **vars(main)}
    return (variables, _leaves(variables)), status


def _functions(path: str, names: Sequence[str]) -> set[CodeType]:
    """The functions of a script with one of the variables that the script itself has not."""
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), script.absolute(path), "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return set()  # running it says what is wrong
    wanted = {name.partition(".")[0] for name in names} - set(code.co_names)
    if names and not wanted:
        return set()
    found = set()
    waiting = [code]
    while waiting:
        inside = [each for each in waiting.pop().co_consts if isinstance(each, CodeType)]
        waiting += inside
        found |= {c for c in inside if not names or wanted & {*c.co_varnames, *c.co_cellvars}}
    return found


@contextmanager
def _remembered(functions: set[CodeType], into: dict[str, Any]) -> Iterator[None]:
    """Put the variables of these functions `into` a dict whenever one of them returns."""
    if not functions:
        yield
        return

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code in functions:
            into.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def _leaves(variables: dict[str, Any]) -> dict[str, Tensor]:
    """The leaves that require grad: of models by their paths, and those that are variables."""
    found: dict[str, Tensor] = {}
    seen: set[int] = set()

    def add(name: str, x: Tensor) -> None:
        if id(x) not in seen and x.is_leaf and x.requires_grad:
            seen.add(id(x))
            found[name] = x

    for name, value in variables.items():
        if isinstance(value, Tensor):
            add(name, value)
    for name, value in variables.items():
        if hasattr(type(value), "named_parameters"):
            for path, x in value.named_parameters():
                add(f"{name}.{path}", x)
    return found


def _is_doubtful(x: Tensor) -> bool:
    return x._grad is None or not x._grad._array.any() or not bool(x._grad.isfinite().all())


def _value(variables: dict[str, Any], name: str) -> Any:
    """A variable, or what a path with dots leads to; None where there is nothing."""
    first, *rest = name.split(".")
    value: Any = variables.get(first)
    for part in rest:
        try:
            value = value[int(part)] if part.isdigit() else getattr(value, part)
        except (AttributeError, LookupError, TypeError):
            return None
    return value


def _missing(name: str, value: object, variables: dict[str, Any]) -> str:
    if value is None:
        tensors = [key for key, each in variables.items() if isinstance(each, Tensor)]
        return f"the script has no {name!r}; its tensors are {', '.join(tensors) or 'none'}"
    return f"{name!r} is no tensor but {type(value).__name__}"


def profile_script(script: str, output: str, args: Sequence[str] = (), rows: int = 20) -> int:
    """Run the file `script` as `python -m tapegrad run` does, under a profiler.

    At its end, be it an error, the trace is written to `output` and the operators that took most
    time are printed on standard error. The result is the exit status, 2 if there is no
    folder for `output`.
    """
    folder = os.path.dirname(os.path.abspath(output))
    if not os.path.isdir(folder):  # said before the script runs, which may take long
        print(f"tapegrad: can't write {output!r}: there is no folder {folder!r}", file=sys.stderr)
        return 2
    prof = profile()
    try:
        with prof:
            return run(script, args)
    finally:
        if prof.events():
            prof.export_chrome_trace(output)
            table = prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=rows)
            print(table, file=sys.stderr)
            print(f"{len(prof.events())} events in {output}: open it in", file=sys.stderr)
            print("https://ui.perfetto.dev or chrome://tracing", file=sys.stderr)
