"""Tensors without elements, made: the shapes of what functions that make tensors would give."""

from collections.abc import Callable
from math import ceil
from typing import Any

from tapegrad.core import memory_format
from tapegrad.core.conj_neg_view import memory_of
from tapegrad.core.meta_array import MetaArray, nowhere, nowhere_strided, preserved_nowhere
from tapegrad.core.storage import row_major
from tapegrad.core.streams.mersenne_twister import Twister


def made_nowhere(make: Callable, args: tuple) -> MetaArray:
    """The array without elements that has the shape, dtype and strides of `make(*args)`.

    >>> import numpy as np
    >>> from tapegrad.operators.creation.meta import made_nowhere
    >>> made_nowhere(np.zeros, ((100_000, 100_000), "f4")).shape
    (100000, 100000)
    """
    if args and isinstance(args[0], Twister):  # numbers that would be drawn
        return nowhere(args[1], args[2])
    rule = _RULES.get(make.__name__)
    if rule is not None:
        return rule(*args)
    array = make(*args)  # from data that is there already
    if type(array) is MetaArray:
        return array
    return nowhere_strided(array.shape, array.dtype, array.strides)


def _shaped(shape: Any, dtype: Any, format: Any = memory_format.contiguous_format) -> MetaArray:
    order = memory_format.order_of(format)
    return nowhere(shape, dtype, order if type(order) is tuple else None)


def blank_like(array: Any, dtype: Any, format: Any) -> MetaArray:
    array = memory_of(array)
    if format is not None and format is not memory_format.preserve_format:
        memory_format.check_format("empty_like", format, array.ndim)
        return _shaped(array.shape, dtype, format)
    return preserved_nowhere(array, dtype)


def _strided(shape: Any, strides: Any, dtype: Any) -> MetaArray:
    from tapegrad.operators.creation.empty_strided import strided_array

    one = strided_array((0,) * len(shape), strides, dtype)  # which looks at the strides
    if 0 in shape:
        strides = row_major(shape)
    return nowhere_strided(shape, dtype, tuple([s * one.itemsize for s in strides]))


_RULES: dict[str, Callable] = {
    "zeros": _shaped,
    "ones": _shaped,
    "empty": _shaped,
    "arranged": _shaped,
    "full": lambda shape, value, dtype: nowhere(shape, dtype),
    "eye": lambda rows, columns, _, dtype: nowhere((rows, columns), dtype),
    "permuted": nowhere,
    "strided_array": _strided,
    "_like": blank_like,
    "_filled": lambda array, value, dtype, format: blank_like(array, dtype, format),
    "_arange": lambda start, end, step, dtype: nowhere((ceil((end - start) / step),), dtype.numpy),
    "_linspace": lambda start, end, n, dtype: nowhere((n,), dtype.numpy),
    "_logspace": lambda start, end, n, base, dtype: nowhere((n,), dtype.numpy),
    "drawn_like": lambda blank, *_: blank,
}
