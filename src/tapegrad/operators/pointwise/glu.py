"""Gated units: one half of a tensor opens and closes the other."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import in_operands_order
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import BOOL, COMPLEX, INTEGER, lacks
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import logistic


def _halves(x: Any, axis: int) -> tuple:
    n = x.shape[axis] // 2
    before = (slice(None),) * axis
    return x[(*before, slice(None, n), ...)], x[(*before, slice(n, None), ...)]


def _gated_pull(xp, g, x, axis):
    value, gate = _halves(x, axis)
    s = logistic(xp, gate)
    opened = g * s
    return xp.concat([opened, opened * value * (1 - s)], axis=axis)


def _gated_push(xp, t, x, axis):
    value, gate = _halves(x, axis)
    s = logistic(xp, gate)
    of_value, of_gate = _halves(t, axis)
    return of_value * s + of_gate * (value * s * (1 - s))


@jvp(x=_gated_push)
@vjp(x=_gated_pull)
@primitive(
    promote="arith",
    node="GluBackward0",
    check=lacks("glu_cpu", BOOL, INTEGER, COMPLEX),
    order=in_operands_order,
    kernels=("pad_slice",),
)
def gated(xp, x, *, axis):
    """The first half along `axis` times the sigmoid of the second."""
    value, gate = _halves(x, axis)
    return value * logistic(xp, gate)


@overridable
def glu(input: Tensor, dim: int = -1) -> Any:
    """The first half of `input` along `dim` times the sigmoid of the second half.

    Shape: any; the size of `dim` is halved.
    Raises: RuntimeError for a 0-d tensor, or an odd size.

    Source: Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2016, eq. 1.

    >>> torch.nn.functional.glu(torch.tensor([3.0, 0.0]))
    tensor([1.5000])
    """
    shape = input._array.shape
    if not shape:
        text = "glu does not support scalars because halving size must be even"
        raise errors.runtime_error(text, "One half is gated by the other.")
    axis = axis_of(dim, len(shape))
    if shape[axis] % 2:
        text = f"Halving dimension must be even, but dimension {axis} is size {shape[axis]}"
        raise errors.runtime_error(text, "The first half is gated by the second.")
    return gated(input, axis=axis)
