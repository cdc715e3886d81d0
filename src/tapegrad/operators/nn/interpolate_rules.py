"""Separable linear maps of images: what averages over windows and interpolation are made of."""

from __future__ import annotations

from typing import Any

from tapegrad.dispatch.op import linear


def mapping(name: str, node: str) -> Any:
    """The operator of one kind of map `through` a Separable; its transpose is its reverse rule."""

    @linear(name=name, node=node, kernels=("resample",))
    def mapped(xp, x, *, through):
        """The last axes of x through a separable linear map: for each of them sums over taps."""
        return xp.resample(x, through)

    mapped.vjp(x=lambda xp, g, through: xp.resample(g, through.reverse))
    return mapped


resample = mapping("resample", "ResampleBackward0")
