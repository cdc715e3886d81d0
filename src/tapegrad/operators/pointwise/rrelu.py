"""The leaky rectifier with random slopes."""

from math import isfinite

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Source, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import row_major
from tapegrad.core.scalar import number_of
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, jvp, primitive, vjp
from tapegrad.operators.dtype_check import BOOL, COMPLEX, INTEGER, lacks, no_kernel
from tapegrad.operators.random.fill import level_mode

__torch__ = "rrelu rrelu_"


@one_node("RreluWithNoiseBackwardBackward0")
@jvp(x=lambda t, slope: t * slope)
@vjp(x=lambda g, slope: g * slope)
@primitive(node="RreluWithNoiseBackward0", hidden=("slope",), order=row_major)
def sloped(xp, x, slope):
    """Each element times its slope, which has no gradient."""
    return x * slope


@one_node("RreluWithNoiseBackwardBackward0")
@vjp(x=lambda xp, g, x, slope: xp.where(x > 0, g, g * slope))
@elementwise(
    node="RreluWithNoiseBackward0",
    check=lacks("leaky_relu_cpu", BOOL, INTEGER, COMPLEX),
    order=row_major,
)
def mean_slope(xp, x, *, slope):
    """Positive elements, and others times the slope."""
    return xp.where(x > 0, x, x * slope)


@require_tensors
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    generator: Source = None,
) -> Any:
    """x where it is positive, slope * x elsewhere, slopes drawn from [lower, upper).

    Without `training` the slope is their mean. For the same seed the slopes are PyTorch's.

    Shape: any, and that of the result.
    Raises: RuntimeError for bounds that are not finite, or where `lower` is above `upper`.

    Source: Xu et al., "Empirical Evaluation of Rectified Activations in Convolutional Network",
    2015, section 2.4.

    >>> torch.rrelu(torch.tensor([-1.0, 2.0]), 0.1, 0.3)
    tensor([-0.2000,  2.0000])
    """
    lower = number_of("rrelu", "lower", 2, lower)
    upper = number_of("rrelu", "upper", 3, upper)
    _check_bounds(lower, upper)
    if not training:
        return mean_slope(input, slope=(lower + upper) / 2)
    return _drawn(input, lower, upper, generator)


def _check_bounds(lower: float, upper: float) -> None:
    for name, bound in (("lower", lower), ("upper", upper)):
        if not isfinite(bound):
            text = f"rrelu: {name} bound must be finite, got {bound:g}"
            raise errors.runtime_error(text, "Slopes lie between the two bounds.")
    if lower > upper:
        text = "Lower bound should be less than or equal to the upper bound"
        raise errors.runtime_error(text, f"They are {lower} and {upper}.")


def _drawn(input: Tensor, lower: float, upper: float, generator: Source) -> Any:
    if not input.dtype.is_floating_point or input.dtype.itemsize == 2:
        raise no_kernel("rrelu_with_noise_out_cpu", input.dtype)
    if level_mode() is not None:
        text = "vmap: we do not yet support aten::rrelu. Please file an issue"
        raise errors.runtime_error(text, "Draw the slopes outside of vmap, and pass them in.")
    slope = np.ones(input._array.shape, input._array.dtype)
    negative = input._array <= 0
    # PyTorch draws in double precision, for negative elements alone
    draws = wrap(np.empty(np.count_nonzero(negative)))
    slope[negative] = draws.uniform_(lower, upper, generator=generator)._array
    return sloped(input, wrap(slope))


def _bounds_first(
    input: Any, lower: Any = 1 / 8, upper: Any = 1 / 3, training: Any = False, generator: Any = None
) -> None:
    _check_bounds(lower, upper)


rrelu_ = in_place(rrelu, refused=_bounds_first)
