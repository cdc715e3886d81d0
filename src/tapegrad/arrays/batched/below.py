"""Calling below: the function of the same name on the values of a batched array."""

from tapegrad.arrays.batched.array import Batched, closed, spread, top_level
from tapegrad.arrays.namespaces import is_recorded, namespace_of
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.traced.program import RECORDING
from tapegrad.core.annotations import Any, Array, Callable, LevelLike


def below(name: str, x: Array) -> Callable:
    """The function `name` for the values of `x`."""
    value = x.value
    if type(value) is Batched or is_recorded(value):
        return getattr(namespace_of((value,)), name)
    return getattr(numpy_namespace, name)


def plain(name: str) -> Callable:
    """The function `name` of NumPy arrays, recorded where somebody records."""
    if RECORDING.get() is not None:
        from tapegrad.arrays.traced import namespace

        return getattr(namespace, name)
    return getattr(numpy_namespace, name)


def values_of(level: LevelLike, *arrays: Array) -> list:
    """What lies below arrays, the batch as the first axis of all; None and numbers as is."""
    found = []
    for x in arrays:
        if type(x) is Batched and x.level is level:
            found.append(x.value if x.mapped else spread(x.value, level.size))
        else:
            found.append(spread(x, level.size) if hasattr(x, "shape") else x)
    return found


def for_batch(function: Callable) -> Callable:
    """The kernel of a name from what it is for a batch: `function(level, *arguments)`.

    Where no argument is mapped in the outermost level of them all, it is the kernel below.
    """
    name = function.__name__

    def kernel(*args: Any, **params: object) -> Any:
        arrays = [x for arg in args for x in (arg if type(arg) in (tuple, list) else (arg,))]
        level = top_level(arrays)
        if level is None:
            return plain(name)(*args, **params)
        if any([type(x) is Batched and x.level is level and x.mapped for x in arrays]):
            return function(level, *args, **params)
        values = [_below(x, level) for x in args]
        plain_ones = [_below(x, level) for x in arrays]
        return closed(level, getattr(namespace_of(plain_ones), name)(*values, **params), False)

    kernel.__name__ = name
    kernel.__doc__ = function.__doc__
    return kernel


def for_mapped(function: Callable, name: str | None = None) -> Callable:
    """The kernel of a name from what it is for one mapped array: `function(kernel, x, ...)`.

    It gives the value of the result from `x.value`; `kernel` is that of the name for such values.
    What is not mapped goes to the kernel with the arguments as they are.
    """
    name = name or function.__name__

    def whole(x: Array, *args: object, **params: object) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, *args, **params)
        kernel = below(name, x)
        out = (function if x.mapped else _alike)(kernel, x, *args, **params)
        return closed(x.level, out, x.mapped)

    whole.__name__ = name
    return whole


def _alike(kernel: Callable, x: Array, *args: object, **params: object) -> Any:
    return kernel(x.value, *args, **params)


def of_leading_axes(name: str) -> Callable:
    """A kernel of one array that leaves its leading axes alone, or has as many as it is given."""
    return for_mapped(_alike, name)


def _below(x: Array, level: LevelLike) -> Any:
    """What lies below an argument that is the same for each sample."""
    if type(x) is Batched and x.level is level:
        return x.value
    if type(x) in (tuple, list):
        return type(x)([_below(each, level) for each in x])
    return x
