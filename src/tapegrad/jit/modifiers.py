"""Marks for the compiler of TorchScript: `export`, `ignore`, `unused`, `interface`, overloads.

There is no compiler: a scripted function runs as the Python it is. The marks are kept, as in
PyTorch, in the attribute `_torchscript_modifier`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tapegrad.core.errors import deprecated, runtime_error
from tapegrad.jit._state import COMPILE, SWITCH, outdated


class FunctionModifiers:
    """What a function may be marked with."""

    UNUSED = "unused (ignored and replaced with raising of an exception)"
    IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
    EXPORT = "export (compile this function even if nothing calls it)"
    DEFAULT = "default (compile if called from a exported function / forward)"
    COPY_TO_SCRIPT_WRAPPER = (
        "if this method is not scripted, copy the python method onto the scripted model"
    )
    _DROP = "_drop (function is fully ignored, declaration can be unscriptable)"


def _marked(function: Any, modifier: str) -> Any:
    function._torchscript_modifier = modifier
    return function


def get_torchscript_modifier(fn: Any) -> str:
    """What `fn`, a function or method, is marked with."""
    fn = getattr(fn, "__func__", fn)
    return getattr(fn, "_torchscript_modifier", FunctionModifiers.DEFAULT)


def copy_torchscript_modifier(orig: Any, new: Any) -> None:
    """Mark `new` as `orig` is marked."""
    if hasattr(getattr(orig, "__func__", orig), "_torchscript_modifier"):
        _marked(new, get_torchscript_modifier(orig))


def is_ignored_fn(fn: Any) -> bool:
    """Whether a function is marked as left to Python."""
    marks = (FunctionModifiers.UNUSED, FunctionModifiers.IGNORE, FunctionModifiers._DROP)
    return get_torchscript_modifier(fn) in marks


def should_drop(fn: Any) -> bool:
    """Whether a function is marked as unused."""
    return get_torchscript_modifier(fn) == FunctionModifiers.UNUSED


def export(fn: Callable) -> Callable:
    """Mark a method as one that a scripted module has, whether or not its forward calls it.

    >>> class Shift(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x
    ...
    ...     @torch.jit.export
    ...     def back(self, x):
    ...         return x - 1
    >>> torch.jit.script(Shift()).back(torch.ones(1))
    tensor([0.])
    """
    return _marked(fn, FunctionModifiers.EXPORT)


def unused(fn: Any) -> Any:
    """Mark a method, or a property, as one that scripted code does not call.

    >>> @torch.jit.unused
    ... def f(x):
    ...     return x
    >>> f(3)
    3
    """
    if isinstance(fn, property):
        for each in (fn.fget, fn.fset):
            if each is not None:
                _marked(each, FunctionModifiers.UNUSED)
        return fn
    return _marked(fn, FunctionModifiers.UNUSED)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Mark a function as left to Python: `@ignore`, `@ignore()`, `@ignore(drop=True)` (outdated).

    >>> @torch.jit.ignore
    ... def f(x):
    ...     return x
    >>> f(3)
    3
    """
    if callable(drop):
        return _marked(drop, FunctionModifiers.IGNORE)
    if not isinstance(drop, bool):
        raise runtime_error(
            f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}",
            "Write @torch.jit.ignore above the function.",
        )
    on_export = kwargs.pop("drop_on_export", None)
    if on_export or drop:
        outdated = "drop_on_export=True" if on_export else "True"
        text = (
            f"ignore({outdated}) has been deprecated. TorchScript will now drop the function call "
            "on compilation. Use torch.jit.unused now. {}"
        )
        deprecated(text)
    unused_ = on_export or drop
    modifier = FunctionModifiers.UNUSED if unused_ else FunctionModifiers.IGNORE
    return lambda fn: _marked(fn, modifier)


def _drop(fn: Callable) -> Callable:
    return _marked(fn, FunctionModifiers._DROP)


def _copy_to_script_wrapper(fn: Callable) -> Callable:
    """Mark a method as one that scripted modules have."""
    return _marked(fn, FunctionModifiers.COPY_TO_SCRIPT_WRAPPER)


def interface(obj: Any) -> Any:
    """Mark a class as the description of what several classes have; returns it.

    Raises: RuntimeError for what is no class.

    >>> @torch.jit.interface
    ... class Layer:
    ...     def forward(self, x: torch.Tensor) -> torch.Tensor: ...
    >>> Layer.__name__
    'Layer'
    """
    outdated("interface", COMPILE)
    if not isinstance(obj, type):
        raise runtime_error(
            "interface must be applied to a class", "Write @torch.jit.interface above a class."
        )
    marked: Any = obj
    marked.__torch_script_interface__ = f"__torch__.{obj.__module__}.{obj.__qualname__}"
    return obj


def _overload(func: Callable) -> Callable:
    """Declare one way to call the function that is defined below under the same name."""
    return func


def _overload_method(func: Callable) -> Callable:
    """Declare one way to call the method that is defined below under the same name."""
    return func


def script_method(fn: Callable) -> Callable:
    """Mark a method of a subclass of `ScriptModule`: it runs as the Python it is.

    >>> class Twice(torch.jit.ScriptModule):
    ...     @torch.jit.script_method
    ...     def forward(self, x):
    ...         return x * 2
    >>> Twice()(torch.ones(1))
    tensor([2.])
    """
    outdated("script_method", SWITCH)
    return fn


class Attribute(NamedTuple):
    """A value with its type: a `ScriptModule` that is given one as attribute has the value.

    >>> torch.jit.Attribute(0.1, float)
    Attribute(value=0.1, type=<class 'float'>)
    """

    value: Any
    type: Any


def annotate(the_type: Any, the_value: Any) -> Any:
    """`the_value`, said to be of `the_type`.

    >>> torch.jit.annotate(list[int], [])
    []
    """
    return the_value


def _unwrap_optional(x: Any) -> Any:
    """`x`, which must not be None."""
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x
