"""Counting: how often numbers occur, and how many fall into bins of equal width."""

from math import isfinite

from tapegrad.arrays.namespaces import refuse_meta
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.dtype import bool_, float32, float64
from tapegrad.core.scalar import int_of, number_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import constant, jvp, primitive, vjp
from tapegrad.dispatch.per_sample import per_sample
from tapegrad.operators.dtype_check import no_derivative, no_kernel, require_floating

__torch__ = "bincount histc"

_NO_RULE = "Counting has no useful derivative: detach() the tensor."


@jvp(weights=lambda xp, t, x, minimum: xp.tally(x, t, minimum))
@vjp(weights=no_derivative("bincount", _NO_RULE))
@primitive(name="bincount", node="NotImplemented", hidden=("x",), kernels=("tally",))
def occurrences(xp, x, weights, *, minimum):
    """How often each number occurs, or the sum of its weights."""
    return xp.tally(x, weights, minimum)


@per_sample
def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Any:
    """How often each of 0, 1, 2, ... occurs in a vector; or the sum of the weights there.

    Shapes: (n,), weights alike, to (max(largest + 1, minlength),).
    Raises: RuntimeError for what is no vector of integers from 0 on, or weights of another size.

    >>> torch.bincount(torch.tensor([1, 3, 1]))
    tensor([0, 2, 0, 1])
    """
    refuse_meta("bincount", input)
    array = input._array
    if input.dtype.category != 1:
        raise no_kernel("bincount_cpu", input.dtype)
    problem = ""
    if minlength < 0:
        problem = "minlength should be >= 0"
    elif array.ndim != 1 or (array.size and array.min() < 0):
        problem = "bincount only supports 1-d non-negative integral inputs."
    elif weights is not None and weights._array.shape != array.shape:
        problem = "weights should be 1-d and have the same length as input"
    if problem:
        raise errors.runtime_error(problem, "Count a vector of 0, 1, 2, ...: flatten() it first.")
    if weights is not None and not array.size:
        weights = None
    if weights is not None and weights.dtype is not float32:
        weights = weights.to(float64)
    return occurrences(input, weights, minimum=minlength)


# --- bins ------------------------------------------------------------------------------------


@constant(name="histc", kernels=("tally_evenly",))
def evenly(xp, x, *, low, high, bins):
    """How many elements lie in each of some bins of equal width."""
    return xp.tally_evenly(x, low, high, bins)


@per_sample
def histc(input: Tensor, bins: int = 100, min: Any = 0, max: Any = 0, *, out: Out = None) -> Any:
    """How many elements lie in each of `bins` intervals of equal width from `min` to `max`.

    With `min == max` from the smallest to the largest element. Others are not counted.

    Shape: any to (bins,).
    Raises: RuntimeError for a range that is not finite, or where `max` is below `min`.

    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    bins = int_of("histc", "bins", 2, bins)
    low = float(number_of("histc", "min", 3, min))
    high = float(number_of("histc", "max", 4, max))
    if out is not None:
        require_same_dtype(input, out)
    require_bins(bins, 0)
    if input.dtype.category == 3:
        raise no_kernel("aminmax_cpu" if low == high else "histogram_cpu", input.dtype)
    array = input._array
    if low == high and array.size and not input.is_meta:
        low, high = float(array.min()), float(array.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (isfinite(low) and isfinite(high)):
        text = f"torch.histc: range of [{low:g}, {high:g}] is not finite"
        raise errors.runtime_error(text, "Give min and max.")
    if low > high:
        text = "torch.histc: max must be larger than min"
        raise errors.runtime_error(text, f"They are {low}, {high}.")
    require_floating("linspace_cpu" if input.dtype is bool_ else "histogram_cpu", input)
    x = input.detach().reshape(-1)
    x = x if input.dtype in (float32, float64) else x.to(float32)
    found = evenly(x, low=low, high=high, bins=bins).to(input.dtype)
    return finish("histc", found, out)


def require_bins(n: int, dim: int) -> None:
    if n <= 0:
        text = f"torch.histogram(): bins must be > 0, but got {n} for dimension {dim}"
        raise errors.runtime_error(text, "Ask for one bin or more.")


def require_same_dtype(input: Tensor, out: Any, name: str = "hist", place: str = "") -> None:
    if out.dtype is not input.dtype:
        have, found = errors.c_name(input.dtype), errors.c_name(out.dtype)
        raise errors.runtime_error(
            f"torch.histogram: input tensor and {name} tensor should have the same dtype, but "
            f"got input {have} and {name} {found}{place}",
            f"Give an out tensor of {input.dtype}.",
        )
