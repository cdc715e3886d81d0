"""Errors of what was scripted or traced, in the classes and words that TorchScript gives them."""

import dis
import inspect
import linecache
import types
from collections.abc import Callable, Iterator

from tapegrad.core.errors import advised, runtime_error

_PACKAGE = __name__.partition(".")[0]
_START = (
    "The following operation failed in the TorchScript interpreter.\n"
    "Traceback of TorchScript (most recent call last):"
)


class Error(Exception):
    """What TorchScript raises where the program itself does: by `raise` or `assert`.

    >>> @torch.jit.script
    ... def f(x):
    ...     assert x.dim() == 1, "one axis"
    ...     return x
    >>> f(torch.ones(2, 2))
    Traceback (most recent call last):
    torch.jit.Error: The following operation failed in the TorchScript interpreter...
    """

    __module__ = "torch.jit"


def interpreted(error: Exception, start: types.TracebackType | None) -> Exception:
    """The error TorchScript raises where Python raised `error`, below the frame of `start`.

    One by `raise` or `assert` becomes `torch.jit.Error`, another RuntimeError; what tapegrad
    lacks stays NotImplementedError.
    """
    if str(error).startswith(_START):
        return error
    frames = list(_frames(start))
    made: type[Exception]
    inside = bool(frames) and _is_ours(frames[-1])
    if isinstance(error, AssertionError):
        made, said = Error, f"RuntimeError: AssertionError: {error}"
    elif not inside and frames and _is_raise(frames[-1]):
        made, said = Error, f"{type(error).__module__}.{type(error).__qualname__}: {error}"
    elif isinstance(error, NotImplementedError):
        return error
    else:
        name = "KeyError: " if isinstance(error, KeyError) else ""
        text = error.args[0] if len(error.args) == 1 else error
        made, said = RuntimeError, f"RuntimeError: {name}{text}"
    places = [_place(frame) for frame in frames if not _is_ours(frame)]
    found = made("\n".join([_START, *places, f"{said}\n"]))
    for note in getattr(error, "__notes__", ()):
        found.add_note(note)
    return found


def misfit(function: Callable, args: tuple, kwargs: dict) -> RuntimeError | None:
    """The error for arguments that do not fit a scripted function; None where they do."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        pass
    else:
        return None
    own = int(inspect.ismethod(function))
    name, most, given = function.__name__, len(signature.parameters), len(args) + len(kwargs)
    if given > most:
        return runtime_error(
            f"{name}() expected at most {most + own} argument(s) but received "
            f"{given + own} argument(s).",
            f"Its arguments are {signature}.",
        )
    positional = list(signature.parameters)[: len(args)]
    for parameter in signature.parameters.values():
        is_given = parameter.name in positional or parameter.name in kwargs
        if parameter.default is parameter.empty and not is_given:
            return runtime_error(
                f"{name}() is missing value for argument '{parameter.name}'.",
                f"Its arguments are {signature}.",
            )
    unknown = [key for key in kwargs if key not in signature.parameters or key in positional]
    error = RuntimeError(f"Unknown keyword argument '{unknown[0]}' for operator '{name}'.")
    return advised(error, f"Its arguments are {signature}.")


def _frames(trace: types.TracebackType | None) -> Iterator[types.TracebackType]:
    """What lies below a traceback's first frame."""
    while trace is not None and (trace := trace.tb_next) is not None:
        yield trace


def _is_ours(trace: types.TracebackType) -> bool:
    name = trace.tb_frame.f_globals.get("__name__", "")
    if name.startswith(f"{_PACKAGE}.nn.modules."):  # TorchScript runs those as they are, too
        return False
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")


def _is_raise(trace: types.TracebackType) -> bool:
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def _place(trace: types.TracebackType) -> str:
    code, frame = trace.tb_frame.f_code, trace.tb_frame
    where = f'  File "{code.co_filename}", line {trace.tb_lineno}, in {code.co_name}'
    line = linecache.getline(code.co_filename, trace.tb_lineno, frame.f_globals).rstrip()
    if not line:
        return where
    text = line.lstrip()
    return f"{where}\n{line}\n{' ' * (len(line) - len(text))}{'~' * len(text)} <--- HERE"
