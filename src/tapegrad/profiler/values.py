"""What calls are given and give, as PyTorch's execution traces write it down."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.autograd.lifetime import owner
from tapegrad.core.errors import c_name

# Of a value: what it is, its shape, its type, its strides; of a list, lists of these.
Described = tuple[Any, Any, str, Any]

_NUMBERS = {bool: "Bool", int: "Int", float: "Double", str: "String"}


class TensorValue:
    """A tensor or an array in a trace: which one, whose memory, and where in it."""

    __slots__ = ("itemsize", "memory", "n", "offset", "tensor")

    def __init__(self, x: Any, array: np.ndarray):
        memory = owner(array)
        self.tensor = id(x)
        self.memory = id(memory)
        self.offset = (_address(array) - _address(memory)) // max(array.itemsize, 1)
        self.n = array.size
        self.itemsize = array.itemsize


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def described(x: Any) -> Described:
    """A value of a call: a tensor, a number, a text, None, or a list of such.

    >>> from tapegrad.profiler.values import described
    >>> described(2), described([1, 2])
    ((2, [], 'Int', []), ([1, 2], [[], []], 'GenericList[Int,Int]', [[], []]))
    >>> described(torch.ones(2, 3))[1:]
    ([2, 3], 'Tensor(float)', [3, 1])
    """
    array = getattr(x, "_array", x)
    if isinstance(array, np.ndarray):
        kind = f"Tensor({c_name(array.dtype)})"
        strides = [n // max(array.itemsize, 1) for n in array.strides]
        return TensorValue(x, array), list(array.shape), kind, strides
    if isinstance(x, (list, tuple)):
        parts = [described(each) for each in x]
        values, shapes, kinds, strides_of = ([part[i] for part in parts] for i in range(4))
        return values, shapes, f"GenericList[{','.join(kinds)}]", strides_of
    if x is None:
        return "<None>", [], "None", []
    kind = _NUMBERS.get(type(x), "")
    return (x, [], kind, []) if kind else (str(x), [], type(x).__name__.capitalize(), [])


def described_call(inputs: Any, options: dict, result: Any) -> tuple[list, list]:
    """What a call was given, options last, and what it gave."""
    given = [described(x) for x in (*inputs, *options.values())]
    return given, [described(x) for x in (result if type(result) is tuple else (result,))]
