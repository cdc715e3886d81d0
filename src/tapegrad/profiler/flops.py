"""Floating-point operations of the functions that PyTorch has a formula for, and its figures.

A sum or product of two tensors counts the elements of the first. What a convolution does where its
padding is a word, or its input has no batch, is not counted.
"""

from __future__ import annotations

from math import prod
from typing import Any

_MATRICES = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
_POINTWISE = ("aten::mul", "aten::add")

# Functions that are one operator in PyTorch: what they are made of here is not counted.
WHOLE = frozenset(("aten::addbmm", "aten::addmv", "aten::addr", "aten::baddbmm"))


def flops_of(name: str, shapes: list) -> int:
    """How many operations a call of `name` takes; 0 where no formula is known.

    >>> from tapegrad.profiler.flops import flops_of
    >>> flops_of("aten::mm", [[30, 40], [40, 5]])
    12000
    """
    if name in _POINTWISE:
        return prod(shapes[0]) if shapes else 0
    first = _MATRICES.get(name)
    if first is None or len(shapes) < first + 2 or not shapes[first + 1]:
        return 0
    return 2 * prod(shapes[first]) * shapes[first + 1][-1]


def _conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> int:
    """Products and sums: two for each weight that an element of the output is made with."""
    if isinstance(padding, str) or input.ndim != 4:
        return 0
    n = 2 * input.shape[0] * weight.numel()
    for axis in (0, 1):
        step, pad, spread = (_of_axis(x, axis) for x in (stride, padding, dilation))
        window = spread * (weight.shape[2 + axis] - 1) + 1
        n *= (input.shape[2 + axis] + 2 * pad - window) // step + 1
    return n


def _of_axis(option: Any, axis: int) -> int:
    return option if isinstance(option, int) else option[axis if len(option) > 1 else 0]


COUNTED = {"aten::conv2d": _conv2d}  # by the arguments of the call
