"""Calls that a program makes, as the nodes of a graph have them, and where the program is."""

import operator
import sys
import traceback
from collections.abc import Callable
from dis import get_instructions
from types import FrameType
from typing import Any

from tapegrad.core.torch_function import PROGRAM, asking
from tapegrad.fx.call_form import as_called
from tapegrad.fx.qualified_name import _get_qualified_name
from tapegrad.jit.program import name_of

_OPERATORS = {"div": "truediv", "remainder": "mod", "bitwise_and": "and_", "bitwise_or": "or_"}
_OPERATORS |= {"bitwise_xor": "xor", "bitwise_left_shift": "lshift", "bitwise_not": "invert"}
_OPERATORS |= {"bitwise_right_shift": "rshift", "and": "and_", "or": "or_"}
"""Methods that have another name in the module `operator`."""

_OPERATIONS = ("BINARY_", "COMPARE_", "UNARY_", "STORE_")


def call_form(
    func: Any, args: tuple, kwargs: dict, frame: FrameType
) -> tuple[str, Any, tuple, dict]:
    """A call as kind, target and arguments of a node."""
    name = func.__name__
    if name == "__get__":
        path = name_of(func)
        assert path is not None  # torch.Tensor.T.__get__
        return "call_function", getattr, (args[0], path.split(".")[-2]), {}
    if name.startswith("__") or _is_operation(frame):
        reflected = _operator(f"__{name[3:]}") if name.startswith("__r") else None
        if reflected is not None:
            return "call_function", reflected, args[::-1], {}
        found = _operator(name)
        if found is not None:
            return "call_function", found, args, kwargs
    if _get_qualified_name(func).startswith("torch.Tensor."):
        return "call_method", name, args, kwargs
    return "call_function", func, *as_called(func, args, kwargs, frame)


def _operator(name: str) -> Callable | None:
    """The function of the module `operator` that calls a method: `iadd` for `add_`."""
    plain = name.strip("_")
    plain = _OPERATORS.get(plain, plain)
    if name[-1:] == "_" and name[:2] != "__":
        plain = f"i{plain.rstrip('_')}"
    return getattr(operator, plain, None)


def _program_frame(frame: FrameType | None) -> FrameType | None:
    while frame is not None:
        if _is_programs(frame):
            break
        frame = frame.f_back
    return frame


def _is_programs(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__", "")
    return asking(module) == PROGRAM and not module.startswith(_MACHINERY)


_MACHINERY = tuple(
    f"tapegrad.{each}"
    for each in (
        "compat.torch._dynamo compiler.graphs core dispatch fx jit operators overrides tensors"
    ).split()
)
"""Modules between what the program calls and what records it."""


def _is_operation(frame: FrameType | None) -> bool:
    """Whether the program is at an operator such as `+`, not at a call."""
    frame = _program_frame(frame)
    if frame is None:
        return False
    for each in get_instructions(frame.f_code):
        if each.offset == frame.f_lasti:
            return each.opname.startswith(_OPERATIONS)
    return False


def variable_of(frame: FrameType) -> str | None:
    """The local variable that takes the result of what the program calls; None where none does."""
    found = _program_frame(frame)
    if found is None:
        return None
    after = next(x for x in get_instructions(found.f_code) if x.offset > found.f_lasti)
    return after.argval if after.opname == "STORE_FAST" else None


def program_stack(
    frame: FrameType | None, around: FrameType | None
) -> list[traceback.FrameSummary]:
    """The calls that the program is in, inside of `around`; at `frame`, or now."""
    frame = _program_frame(frame or sys._getframe(1))
    frames = []
    while frame is not None and frame is not around:
        if _is_programs(frame):
            frames.append((frame, frame.f_lineno))
        frame = frame.f_back
    return list(traceback.StackSummary.extract(reversed(frames)))
