"""Counts of successes: `binomial`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad.op import primitive
from tapegrad.ops.random_argument import not_implemented, require_tensor, stream_of
from tapegrad.ops.random_level import of_tensors
from tapegrad.ops.refusal import no_derivative
from tapegrad.streams.binomial import binomial as binomial_counts

__all__ = ["binomial"]


@primitive(name="binomial", node="NotImplemented")
def binomial_draw(xp, count, prob, *, drawn):
    """The array `drawn`, with these parameters."""
    return xp.asarray(drawn)


_refuse = no_derivative("binomial", "Counts have no slope: detach() the tensors.")
binomial_draw.vjp(count=_refuse, prob=_refuse)


@of_tensors
def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """How many of `count` trials succeed, each with the probability `prob`; the two broadcast.

    A count of k has the probability `n! / (k! (n - k)!) prob^k (1 - prob)^(n - k)`.

    Raises:
        ValueError: one of the two has no floating-point dtype.
        RuntimeError: their dtypes differ, or their shapes do not broadcast.

    >>> _ = torch.manual_seed(0)
    >>> torch.binomial(torch.full((4,), 10.0), torch.tensor(0.3))
    tensor([6., 3., 3., 2.])
    """
    for position, (name, x) in enumerate([("count", count), ("prob", prob)], start=1):
        require_tensor("binomial", name, position, x)
    for name, x in (("count", count), ("prob", prob)):
        if not x.dtype.is_floating_point:
            raise errors.advised(
                ValueError(
                    f"binomial only supports floating-point dtypes for {name}, got: "
                    f"{x.dtype.scalar_name}"
                ),
                "Convert it first: .float().",
            )
    stream, dtype = stream_of("binomial", generator), count.dtype
    if dtype.itemsize < 4:
        raise not_implemented("binomial_cpu", dtype)
    if prob.dtype is not dtype:
        raise errors.advised(
            RuntimeError(f"Found dtype {prob.dtype.scalar_name} but expected {dtype.scalar_name}"),
            f"Convert one of them: prob.to({dtype}).",
        )
    try:
        np.broadcast_shapes(count.shape, prob.shape)
    except ValueError:
        raise errors.broadcast(tuple(count.shape), tuple(prob.shape)) from None
    return binomial_draw(count, prob, drawn=binomial_counts(stream, count._array, prob._array))
