"""Floating-point operations of the operators that have a formula, from the shapes of their inputs.

The counts are PyTorch's: a sum or product of two tensors counts the elements of the first.
"""

from __future__ import annotations

from math import prod

_MATRICES = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
_POINTWISE = ("aten::mul", "aten::add")


def flops_of(name: str, shapes: list) -> int:
    """How many operations a call of `name` takes; 0 where no formula is known.

    >>> from tapegrad.autograd.profile_flops import flops_of
    >>> flops_of("aten::mm", [[30, 40], [40, 5]])
    12000
    """
    if name in _POINTWISE:
        return prod(shapes[0]) if shapes else 0
    first = _MATRICES.get(name)
    if first is None or len(shapes) < first + 2:
        return 0
    return 2 * prod(shapes[first]) * shapes[first + 1][-1]
