"""Which arguments of a call were given by position and which by keyword, as PyTorch hands it over.

What PyTorch has in C is handed over as the program called it; what it has in Python gets all that
has a default by keyword. tapegrad's functions hand themselves over in a form of their own.
"""

import dis
import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any

from tapegrad.core.torch_function import PROGRAM, asking
from tapegrad.fx.qualified_name import _get_qualified_name


def as_called(
    function: Callable, args: tuple, kwargs: dict, frame: FrameType | None
) -> tuple[tuple, dict]:
    """The arguments of a call that was handed over, in PyTorch's form.

    `frame` is one inside the call: the program's is the first above it.
    """
    name = _get_qualified_name(function)
    if name == "torch._C._nn.linear" and set(kwargs) == {"bias"}:
        args, kwargs = (args if kwargs["bias"] is None else (*args, kwargs["bias"])), {}
    if name == "torch.functional.einsum" and len(args) == 2 and isinstance(args[1], (list, tuple)):
        args = (args[0], *args[1])
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return args, kwargs
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = [p for p in signature.parameters.values() if p.kind in plain]
    if name.startswith(("torch.nn.functional.", "torch.functional.")):
        return _with_defaults(name, signature, bound, parameters)
    names = set(_names_in_call(frame)) & {p.name for p in parameters[: len(args)]}
    first = min((i for i, p in enumerate(parameters) if p.name in names), default=len(args))
    moved = {p.name: args[i] for i, p in enumerate(parameters[: len(args)]) if i >= first}
    given = {k: v for k, v in moved.items() if k in names}
    return args[:first], {**given, **kwargs}


_NOT_HANDED_OVER = {
    ("torch.functional.chain_matmul", "out"),
    ("torch.nn.functional.l1_loss", "weight"),
}
"""What PyTorch leaves out where it is None."""


def _with_defaults(
    name: str, signature: inspect.Signature, bound: inspect.BoundArguments, parameters: list
) -> tuple[tuple, dict]:
    bound.apply_defaults()
    variable = [p for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL]
    required: list[Any] = []
    named = {}
    for parameter in parameters:
        value = bound.arguments[parameter.name]
        if value is None and (name, parameter.name) in _NOT_HANDED_OVER:
            continue
        if parameter.default is parameter.empty or repr(parameter.default) == "MISSING":
            required.append(value)
        else:
            named[parameter.name] = value
    for parameter in variable:
        required.extend(bound.arguments[parameter.name])
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            named.update(bound.arguments[parameter.name])
    return tuple(required), named


def _names_in_call(frame: FrameType | None) -> tuple[str, ...]:
    """The keywords of the call that the program is making, from its bytecode."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if asking(module) == PROGRAM and not module.startswith("tapegrad.fx."):
            break
        frame = frame.f_back
    if frame is None:
        return ()
    done = [
        each
        for each in dis.get_instructions(frame.f_code)
        if each.offset <= frame.f_lasti and each.opname not in _BETWEEN
    ]
    if len(done) < 2 or not done[-1].opname.startswith("CALL"):
        return ()
    names, call = done[-2:]
    if names.opname == "KW_NAMES" or call.opname in ("CALL_KW", "CALL_FUNCTION_KW"):
        return frame.f_code.co_consts[names.arg or 0]
    return ()


_BETWEEN = frozenset(("CACHE", "PRECALL", "EXTENDED_ARG"))
