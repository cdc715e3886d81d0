"""The shape of a tensor: a tuple that says so when it prints."""

from collections.abc import Iterable
from functools import partial
from math import prod
from operator import index
from typing import Any, Self, SupportsIndex, overload

import numpy as np

from tapegrad.core.errors import type_error, value_error

_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1


class Size(tuple[int, ...]):
    """The lengths of a tensor's dimensions.

    >>> torch.Size([2, 3])[1:]
    torch.Size([3])
    """

    __slots__ = ()

    def __new__(cls, lengths: Iterable[int] = (), /) -> Self:
        return tuple.__new__(cls, [_length(i, x) for i, x in enumerate(lengths)])

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> "Size": ...
    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return from_shape(found) if type(key) is slice else found

    def __add__(self, other: tuple[int, ...]) -> "Size":
        if not isinstance(other, tuple):
            if isinstance(other, (np.ndarray, np.generic)):
                return NotImplemented  # they add element by element
            raise type_error(
                f"can only concatenate tuple (not {type(other).__name__}) to torch.Size",
                "Make it a tuple first: size + tuple(other).",
            )
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple[int, ...]) -> "Size":
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(tuple(other), self))

    def __mul__(self, n: SupportsIndex) -> "Size":
        if isinstance(n, np.ndarray):
            return NotImplemented  # it multiplies element by element
        if not hasattr(n, "__index__"):
            raise type_error(
                f"can't multiply sequence by non-int of type '{type(n).__name__}'",
                "Repeat it a whole number of times, such as size * 2.",
            )
        return from_shape(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)

    def numel(self) -> int:
        """The number of elements of a tensor of this shape.

        >>> torch.Size([2, 3]).numel()
        6
        """
        return prod(self)


def _length(i, x):
    if type(x) is not int and getattr(type(x), "stays_in_sizes", False):  # a trace follows it
        return x
    try:
        length = int(index(x))
    except TypeError:
        raise type_error(
            f"torch.Size() takes an iterable of 'int' (item {i} is '{type(x).__name__}')",
            "Pass whole numbers, such as torch.Size([2, 3]).",
        ) from None
    if not _INT64_MIN <= length <= _INT64_MAX:
        raise value_error("Overflow when unpacking long long", f"Item {i} does not fit in 64 bits.")
    return length


# from_shape(array.shape) is the Size of an array: nothing to check, no Python frame.
from_shape: Any = partial(tuple.__new__, Size)
