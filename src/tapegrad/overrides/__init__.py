"""`torch.overrides`: taking part in the calls of functions and methods, by class or for a block.

A class with a `__torch_function__` is asked whenever one of its objects is an argument; a
`TorchFunctionMode` is asked for every call in its block. How that costs plain tensors nothing is
told in `core/torch_function.py` and `tensors/overriding.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any

from tapegrad.autograd.mode import is_grad_enabled, set_grad_enabled
from tapegrad.core import errors
from tapegrad.core import torch_function as _core
from tapegrad.core.missing import refuses as _refuses
from tapegrad.core.torch_function import MODES, STATE, name_of
from tapegrad.library.overload import HANDED
from tapegrad.overrides.functions import (
    _get_tensor_methods,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    resolve_name,
)
from tapegrad.overrides.mode import (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    _get_current_function_mode,
    _get_current_function_mode_stack,
    _get_function_stack_at,
    _is_torch_function_mode_enabled,
    _len_torch_function_stack,
    _pop_mode,
    _pop_mode_temporarily,
    _push_mode,
)
from tapegrad.tensors.overriding import nowrap

__all__ = [
    "enable_reentrant_dispatch",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]  # fmt: skip


def _one_argument(name: str, args: tuple, kwargs: dict) -> Any:
    """The only argument of a function that PyTorch has in C, which takes no other."""
    if kwargs:
        text = f"torch._C.{name}() takes no keyword arguments"
        raise errors.type_error(text, "Give what it asks for by position.")
    if len(args) != 1:
        text = f"torch._C.{name}() takes exactly one argument ({len(args)} given)"
        raise errors.type_error(text, "Give it one tensor or, with the others, a sequence of them.")
    return args[0]


def has_torch_function(*relevant_args: Iterable[Any], **names: Any) -> bool:
    """Whether somebody takes part in a call with these arguments: a mode, or one of them.

    >>> from tapegrad.overrides import has_torch_function
    >>> has_torch_function((torch.ones(1), 2))
    False
    """
    found = _one_argument("_has_torch_function", relevant_args, names)
    if not isinstance(found, Iterable):
        raise errors.type_error("expected a sequence", "Give a tuple of the arguments of a call.")
    return has_torch_function_variadic(*found)


def has_torch_function_unary(*tensor: Any, **names: Any) -> bool:
    """The same for a single argument."""
    return has_torch_function_variadic(_one_argument("_has_torch_function_unary", tensor, names))


def has_torch_function_variadic(*args: Any) -> bool:
    """The same for arguments given one by one."""
    state = STATE.get()
    if state == _core.ALL_OFF:
        return False
    found = bool(MODES.get()) or (state == _core.ON and any(map(_core.overrides, args)))
    if found and _core.SKIP.get():
        _core.SKIP.set(False)
        return False
    return found


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """The result of `public_api(*args, **kwargs)` as the first gives it that takes part.

    `relevant_args` are those arguments that may override. The innermost mode comes first, then
    arguments from left to right, those of a subclass before those of its superclass.

    Raises:
        TypeError: all say NotImplemented.

    >>> from tapegrad.overrides import handle_torch_function, has_torch_function_unary
    >>> class Seven:
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return 7
    >>> def double(x):
    ...     if has_torch_function_unary(x):
    ...         return handle_torch_function(double, (x,), x)
    ...     return x * 2
    >>> double(Seven()), double(torch.ones(1))
    (7, tensor([2.]))
    """
    found = _core.overriding_of(relevant_args)
    modes = MODES.get() if STATE.get() != _core.ALL_OFF else ()
    result = _core.asked_in_turn(public_api, args, kwargs, found, modes)
    if result is not NotImplemented:
        return result
    raise _core.unknown_to_all(_own_name(public_api), found, modes)


def _own_name(function: Any) -> str:
    module = getattr(function, "__module__", None) or ""
    if module.startswith("tapegrad"):
        return name_of(function)
    return f"{module}.{function.__name__}"


def is_tensor_like(inp: Any) -> bool:
    """Whether `inp` is a tensor, or something with a `__torch_function__`.

    >>> torch.overrides.is_tensor_like(torch.ones(1)), torch.overrides.is_tensor_like(1)
    (True, False)
    """
    return hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether `func` is a method of tensors, or what reads a property of them.

    >>> torch.overrides.is_tensor_method_or_property(torch.Tensor.add)
    True
    >>> torch.overrides.is_tensor_method_or_property(torch.add)
    False
    """
    return func in _get_tensor_methods() or getattr(func, "__name__", "") == "__get__"


def wrap_torch_function(dispatcher: Callable) -> Callable:
    """A decorator: the function is overridable; `dispatcher(...)` gives the arguments to ask.

    >>> @torch.overrides.wrap_torch_function(lambda a: (a,))
    ... def half(a):
    ...     return a / 2
    >>> half(torch.ones(1))
    tensor([0.5000])
    """

    def decorate(function: Callable) -> Callable:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return update_wrapper(wrapped, function)

    return decorate


def redispatch_function(
    func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
) -> Any:
    """`func` as it is, skipping those that take part once: what it calls is overridden again.

    Functions of tapegrad itself are computed whole.
    """
    module = getattr(func, "__module__", None) or "tapegrad.tensors"
    if module.partition(".")[0] == "tapegrad" or isinstance(
        getattr(func, "__self__", None), property
    ):
        return _core.undisturbed(func, *args, **kwargs or {})
    token = _core.SKIP.set(True)
    try:
        return func(*args, **kwargs or {})
    finally:
        _core.SKIP.reset(token)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """A block in which functions may be overridden although an override is running.

    In a `__torch_dispatch__` what is computed there is recorded, too.
    """
    token = STATE.set(_core.ON)
    call: Any = HANDED.get()
    try:
        with set_grad_enabled(is_grad_enabled() or getattr(call, "grad", False)):
            yield
    finally:
        STATE.reset(token)


def get_default_nowrap_functions() -> set[Callable]:
    """Functions whose results the default `__torch_function__` leaves as they are.

    They give back a tensor that is kept somewhere: `x.grad is x.grad`.
    """
    return nowrap()


def _get_overloaded_args(relevant_args: Iterable[Any], get_type_fn: Any = None) -> list[Any]:
    return _core.overriding_of(relevant_args)


_push_on_torch_function_stack, _pop_torch_function_stack = _push_mode, _pop_mode
_enable_torch_function = _core._EnableTorchFunction

__getattr__ = _refuses(__name__)
