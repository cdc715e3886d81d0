"""A program as Python source over NumPy: a line for each instruction."""

import math
import operator

import numpy as np

from tapegrad.arrays.traced.program import Changed, Constant, Instruction, Program, Scalar, Value
from tapegrad.arrays.traced.record import Read
from tapegrad.core.annotations import Any, Callable, Sequence


def source_of(program: Program, outputs: Sequence[Value]) -> str:
    """The source of a function of the inputs of a program."""
    lines = [f"def program({', '.join(map(repr, program.inputs))}):"]
    for each in program.instructions:
        lines += [f"    {line}" for line in lines_of(each)]
    lines.append(f"    return {_text(tuple(outputs))}")
    return "\n".join(lines)


def compiled(program: Program, outputs: Sequence[Value]) -> Callable:
    """The function whose source `source_of` gives."""
    scope = scope_of(program)
    exec(compile(source_of(program, outputs), "<program>", "exec"), scope)
    return scope["program"]


def scope_of(program: Program) -> dict[str, Any]:
    """What the names in the lines of a program mean."""
    scope: dict[str, Any] = {f"c{i}": x for i, x in enumerate(program.constants)}
    scope.update(np=np, math=math, inf=np.inf, nan=np.nan, expect=expect, operator=operator)
    scope.update(xp=_Names(), order=_Names(), draw=_Names(), make=_Names())
    for text, function in program.functions.items():
        first, _, name = text.partition(".")
        if first in ("xp", "order", "draw", "make"):
            scope[first]._set(name, function)
    return scope


class _Names:
    """Functions under dotted names."""

    def _set(self, name: str, value: Any) -> None:
        first, _, rest = name.partition(".")
        if rest:
            if first not in self.__dict__:
                setattr(self, first, _Names())
            getattr(self, first)._set(rest, value)
        else:
            setattr(self, first, value)


def expect(found: Any, recorded: Any, what: str) -> None:
    """Raise `Changed` where a number is not the one that was read while a program was recorded."""
    if found != recorded and not (found != found and recorded != recorded):
        raise Changed(f"{what} was {recorded!r} and is {found!r}")


def lines_of(instruction: Instruction) -> list[str]:
    """The lines of one instruction."""
    text, args, result = instruction.text, instruction.args, instruction.result
    if text == "expect":
        how, value, recorded = args
        values = value if type(value) is tuple else (value,)
        asked = f"{value!r}{how}" if how[0] == "." else f"{how}({', '.join(map(_text, values))})"
        return [f"expect({asked}, {_text(recorded)}, {asked!r})"]
    if text == "setitem":
        return [f"{_text(args[0])}[{index_of(args[1], _named)}] = {_text(args[2])}"]
    if text == "getitem":
        call = f"{_text(args[0])}[{index_of(args[1], _named)}]"
    else:
        given = [_text(x) for x in args]
        given += [f"{k}={_text(x)}" for k, x in instruction.kwargs.items()]
        if text[0] == ".":
            call = f"{given[0]}{text}({', '.join(given[1:])})"
        else:
            call = f"{text}({', '.join(given)})"
    checks: list[str] = []
    names = _names(result, call, checks)
    if names is None:
        return [call]
    return [f"{names} = {call}", *checks]


def _names(result: Any, call: str, checks: list[str]) -> str | None:
    """What the results of an instruction are assigned to; None where there are none."""
    if result is None:
        return None
    if isinstance(result, (Value, Scalar)):
        return repr(result)
    if isinstance(result, Read):
        name = f"r{len(checks)}"
        checks.append(f"expect({name}, {_text(result.number)}, {call!r})")
        return name
    names = [_names(x, call, checks) or "_" for x in result]
    return f"({', '.join(names)}{',' * (len(names) == 1)})"


def _named(x: Any) -> str:
    """A value, a constant or a dtype as source."""
    return f"np.dtype({str(np.dtype(x))!r})" if isinstance(x, (np.dtype, type)) else repr(x)


def _text(x: Any) -> str:
    return text_of(x, _named)


def text_of(x: Any, name: Callable[[Any], str]) -> str:
    """An argument as source, with `name` of the values, constants and dtypes in it."""
    if isinstance(x, (Value, Scalar, Constant, np.dtype, type)):
        return name(x)
    if type(x) is tuple:
        return f"({', '.join([text_of(each, name) for each in x])}{',' * (len(x) == 1)})"
    if type(x) is list:
        return f"[{', '.join([text_of(each, name) for each in x])}]"
    if type(x) is slice:
        return f"slice({', '.join([text_of(i, name) for i in (x.start, x.stop, x.step)])})"
    if type(x) is complex:
        return f"complex({x.real!r}, {x.imag!r})"
    return "..." if x is Ellipsis else repr(x)


def index_of(key: Any, name: Callable[[Any], str]) -> str:
    """What stands in the brackets of an index."""
    if type(key) is tuple and key:
        return ", ".join([_part(x, name) for x in key]) + "," * (len(key) == 1)
    return _part(key, name)


def _part(key: Any, name: Callable[[Any], str]) -> str:
    if type(key) is not slice:
        return text_of(key, name)
    parts = ["" if x is None else text_of(x, name) for x in (key.start, key.stop)]
    return ":".join(parts) + ("" if key.step is None else f":{text_of(key.step, name)}")
