"""Counts: of successes (`binomial`), of events (`poisson`)."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Source, Tensor
from tapegrad.core.shape import broadcast
from tapegrad.core.streams.binomial_poisson import binomial as binomial_counts
from tapegrad.core.streams.binomial_poisson import poisson as poisson_counts
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import no_derivative
from tapegrad.operators.random.argument import not_implemented, stream_of
from tapegrad.operators.random.fill import of_tensors, replacement

__torch__ = "binomial poisson"

# --- binomial ---


@primitive(name="binomial", node="NotImplemented")
def binomial_draw(xp, count, prob, *, drawn):
    """The array `drawn`, with these parameters."""
    return xp.asarray(drawn)


_refuse = no_derivative("binomial", "Counts have no slope: detach() the tensors.")
binomial_draw.vjp(count=_refuse, prob=_refuse)


@of_tensors
def binomial(count: Any, prob: Any, generator: Source = None) -> Any:
    """How many of `count` trials succeed, each with the probability `prob`; the two broadcast.

    A count of k has the probability `n! / (k! (n - k)!) prob^k (1 - prob)^(n - k)`.

    Shapes: any that broadcast; the result has the common one.

    Raises:
        ValueError: one of the two has no floating-point dtype.
        RuntimeError: their dtypes differ, or their shapes do not broadcast.

    >>> _ = torch.manual_seed(0)
    >>> torch.binomial(torch.full((4,), 10.0), torch.tensor(0.3))
    tensor([6., 3., 3., 2.])
    """
    errors.need_tensors("binomial", count=count, prob=prob)
    for name, x in (("count", count), ("prob", prob)):
        if not x.dtype.is_floating_point:
            raise errors.value_error(
                f"binomial only supports floating-point dtypes for {name}, got: "
                f"{x.dtype.scalar_name}",
                "Convert it first: .float().",
            )
    stream, dtype = stream_of("binomial", generator), count.dtype
    if dtype.itemsize < 4:
        raise not_implemented("binomial_cpu", dtype)
    if prob.dtype is not dtype:
        text = f"Found dtype {prob.dtype.scalar_name} but expected {dtype.scalar_name}"
        raise errors.runtime_error(text, f"Convert one of them: prob.to({dtype}).")
    broadcast(tuple(count.shape), tuple(prob.shape))
    return binomial_draw(count, prob, drawn=binomial_counts(stream, count._array, prob._array))


# --- poisson ---

poisson_draw = replacement("poisson_draw", "PoissonBackward0")


@of_tensors
def poisson(input: Tensor, generator: Source = None) -> Any:
    """Counts of events of which `input` are expected.

    A count of k has the probability `input^k exp(-input) / k!`.

    Shape: any, and that of the result.
    Raises: RuntimeError for a negative rate.

    >>> _ = torch.manual_seed(0)
    >>> torch.poisson(torch.full((4,), 5.0))
    tensor([8., 4., 6., 4.])
    """
    errors.need_tensor("poisson", "input", 1, input)
    stream, dtype = stream_of("poisson", generator), input.dtype
    if not dtype.is_floating_point and input._array.size:
        raise not_implemented("poisson_cpu", dtype)
    if not (input._array >= 0).all():
        text = "invalid Poisson rate, expected rate to be non-negative"
        raise errors.runtime_error(text, "A rate is a number of events that is expected.")
    return poisson_draw(input, drawn=poisson_counts(stream, input._array))
