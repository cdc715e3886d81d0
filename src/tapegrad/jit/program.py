"""What a trace recorded: a sequence of calls, written as Python and run as it is written."""

from __future__ import annotations

import math
import operator
import re
from typing import NamedTuple

import tapegrad
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.device import device
from tapegrad.core.dtype import dtype
from tapegrad.core.errors import runtime_error


class Ref(NamedTuple):
    """A value of the program: `kind` is "value" or "state", `key` its number or dotted name."""

    kind: str
    key: Any


class Step(NamedTuple):
    """One call: the function and its name, arguments with `Ref`s, the structure of its results."""

    name: str
    function: Callable
    args: tuple
    kwargs: dict
    results: Any


def function_of(name: str) -> Callable:
    """The function that a step names: `torch.nn.functional.relu`, `operator.add`, ..."""
    root, *parts = name.split(".")
    found: Any = operator if root == "operator" else tapegrad
    for part in parts:
        found = getattr(found, part)
    return found


def name_of(function: Any) -> str | None:
    """The name by which `function_of` finds a function."""
    from tapegrad.overrides import resolve_name

    name = resolve_name(function)
    if name is None or not name.startswith("torch."):
        return None
    return name


def refs_in(value: Any) -> Any:
    """All `Ref`s in arguments or results."""
    if type(value) is Ref:
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from refs_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from refs_in(each)
    elif isinstance(value, slice):
        yield from refs_in((value.start, value.stop, value.step))


class Program:
    """Calls that compute outputs from inputs and the state of a module."""

    def __init__(self, name: str, inputs: list[str], structure: list, steps: list, output: Any):
        self.name, self.inputs, self.structure = name, inputs, structure
        self.steps, self.output = _needed(steps, output), output

    def bound_to(self, module: Any) -> Program:
        """The program that calls parts of `module` where it calls parts of a module."""
        steps = [
            step._replace(function=module.get_submodule(step.name.removeprefix("self.")))
            if step.name.startswith("self.")
            else step
            for step in self.steps
        ]
        return Program(self.name, self.inputs, self.structure, steps, self.output)

    # --- as text ---

    def source(self, is_method: bool) -> tuple[str, dict[str, Any]]:
        """The program as Python, and the constants it names."""
        writer = _Writer()
        names = (["self"] if is_method else []) + self.inputs
        lines = [f"def {self.name}({', '.join(names)}):"]
        for name, structure in zip(self.inputs, self.structure, strict=True):
            lines += writer.unpacked(name, structure)
        for step in self.steps:
            args = [writer.text(x) for x in step.args]
            args += [f"{key}={writer.text(x)}" for key, x in step.kwargs.items()]
            target = writer.target(step.results)
            lines.append(f"    {target}{step.name}({', '.join(args)})")
        lines.append(f"    return {writer.text(self.output)}")
        return "\n".join(lines) + "\n", writer.constants

    def compiled(self, state: Callable[[str], tuple[dict, str]] | None) -> Callable:
        """The program as a function; `state` gives where a tensor of the module is."""
        source, constants = self.source(state is not None)
        scope: dict[str, Any] = {"CONSTANTS": _Constants(constants), "inf": math.inf}
        scope |= {"nan": math.nan, "device": device, "torch": tapegrad, "operator": operator}
        for i, name in enumerate(dict.fromkeys(step.name for step in self.steps)):
            scope[f"f{i}"] = next(step.function for step in self.steps if step.name == name)
            source = re.sub(rf"(?m)^(    (?:\S.* = )?){re.escape(name)}\(", rf"\g<1>f{i}(", source)
        if state is not None:
            paths = {r.key for s in self.steps for r in refs_in((s.args, s.kwargs))}
            paths |= {r.key for r in refs_in(self.output)}
            for i, path in enumerate(sorted(p for p in paths if isinstance(p, str))):
                scope[f"t{i}"], key = state(path)
                source = re.sub(rf"\bself\.{re.escape(path)}(?![\w.])", f"t{i}[{key!r}]", source)
            source = source.replace("(self, ", "(", 1).replace("(self)", "()", 1)
        exec(compile(source, f"<trace of {self.name}>", "exec", dont_inherit=True), scope)
        return scope[self.name]

    def graph(self) -> str:
        """The calls, one a line, much as PyTorch writes graphs."""
        writer = _Writer()
        lines = [f"graph({', '.join('%' + name for name in self.inputs)}):"]
        for name, structure in zip(self.inputs, self.structure, strict=True):
            lines += [line[2:] for line in writer.unpacked(f"%{name}", structure)]
        for step in self.steps:
            given = [writer.text(x) for x in step.args]
            given += [f"{key}={writer.text(x)}" for key, x in step.kwargs.items()]
            lines.append(f"  {writer.target(step.results)}{step.name}({', '.join(given)})")
        lines.append(f"  return ({writer.text(self.output)})")
        return "\n".join(re.sub(r"\bv(\d+)\b", r"%v\1", line) for line in lines) + "\n"


class Graph:
    """The operators of a trace; printing it shows them."""

    def __init__(self, program: Program):
        self._program = program

    def __str__(self) -> str:
        return self._program.graph()

    __repr__ = __str__


class _Constants:
    def __init__(self, named: dict[str, Any]):
        self.__dict__.update(named)


class _Writer:
    """Writes values of a program as Python."""

    def __init__(self) -> None:
        self.constants: dict[str, Any] = {}

    def text(self, value: Any) -> str:
        if type(value) is Ref:
            return f"v{value.key}" if value.kind == "value" else f"self.{value.key}"
        if value is None or value is Ellipsis or type(value) in (bool, int, str, bytes, complex):
            return "..." if value is Ellipsis else repr(value)
        if type(value) is float:
            return repr(value)
        if isinstance(value, dtype):
            return str(value)
        if isinstance(value, device):
            return repr(value)
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.text, (value.start, value.stop, value.step)))})"
        if isinstance(value, dict):
            return f"{{{', '.join(f'{k!r}: {self.text(x)}' for k, x in value.items())}}}"
        if type(value) is list:
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, tuple):
            inner = ", ".join(map(self.text, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return f"CONSTANTS.{name}"

    def target(self, results: Any) -> str:
        return "" if results is None else f"{self._pattern(results)} = "

    def _pattern(self, results: Any) -> str:
        if type(results) is Ref:
            return f"v{results.key}"
        if isinstance(results, list | tuple):
            inner = ", ".join(map(self._pattern, results))
            return f"({inner},)" if len(results) == 1 else f"({inner})"
        return "_"

    def unpacked(self, name: str, structure: Any) -> list[str]:
        """Lines that take an argument to pieces."""
        if type(structure) is Ref:
            return [f"    v{structure.key} = {name}"]
        if isinstance(structure, dict):
            pairs = [(f"{name}[{key!r}]", x) for key, x in structure.items()]
        else:
            pairs = [(f"{name}[{i}]", x) for i, x in enumerate(structure)]
        return [line for each in pairs for line in self.unpacked(*each)]


_PURE = ("torch.Tensor.size", "operator.")


def _needed(steps: list, output: Any) -> list:
    """The steps without those that compute numbers nobody uses."""
    used = {ref.key for ref in refs_in(output)}
    found = []
    for step in reversed(steps):
        pure = step.name.startswith(_PURE)
        if pure and not any(ref.key in used for ref in refs_in(step.results)):
            continue
        used |= {ref.key for ref in refs_in((step.args, step.kwargs))}
        found.append(step)
    return found[::-1]


def check_saved(step: Step) -> str:
    """The name by which a step's function is saved."""
    if step.name.startswith(("operator.", "self.")):
        return step.name
    if name_of(step.function) != step.name:
        raise runtime_error(
            f"Could not export Python function call '{step.name.rpartition('.')[2]}'",
            "A custom function has code that a file cannot have: trace without it.",
        )
    return step.name
