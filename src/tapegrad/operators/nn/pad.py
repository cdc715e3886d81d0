"""Padding in all modes."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike
from tapegrad.core.shape import ints_of
from tapegrad.operators.nn.pad_constant import constant_pad_nd
from tapegrad.operators.nn.pad_reflect import edge_pad


def pad(input: TensorLike, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """The tensor with a border along its last axes.

    `pad` has two widths for each axis, before and after, the last axis first; negative ones cut
    off. The border is `value` (mode "constant"), what lies inside mirrored at the edge ("reflect"),
    the edge repeated ("replicate"), or the other end ("circular").

    >>> pad, x = torch.nn.functional.pad, torch.tensor([[1.0, 2.0, 3.0]])
    >>> pad(x, (1, 2))
    tensor([[0., 1., 2., 3., 0., 0.]])
    >>> pad(x, (1, 2), mode="reflect")
    tensor([[2., 1., 2., 3., 2., 1.]])
    """
    if not hasattr(input, "_array"):
        raise errors.must_be("pad", "input", 1, "Tensor", input)
    if not isinstance(pad, (tuple, list)):
        raise errors.must_be("pad", "pad", 2, "tuple of ints", pad)
    widths = ints_of("pad", "pad", (pad,), 2)
    ndim = input._array.ndim
    if len(widths) % 2:
        raise errors.runtime_error(
            "Padding length must be divisible by 2",
            "Give the widths before and after, for each axis from the last on.",
        )
    if len(widths) > 2 * ndim:
        raise errors.runtime_error(
            "Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(widths)} and input of dimension {ndim}",
            "Each axis has two widths.",
        )
    if mode == "constant":
        if isinstance(value, complex):
            raise errors.must_be("pad", "value", 4, "float", value)
        return constant_pad_nd(input, widths, 0 if value is None else value)
    if value is not None and value != 0:
        raise errors.runtime_error(
            f'Padding mode "{mode}" doesn\'t take in value argument',
            'Only mode "constant" has a value.',
        )
    if mode not in ("reflect", "replicate", "circular"):
        raise errors.not_implemented(
            f"Unrecognised padding mode {mode}",
            'Modes are "constant", "reflect", "replicate" and "circular".',
        )
    return edge_pad(input, widths, mode)
