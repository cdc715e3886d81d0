"""The greater and the less of two tensors."""

from tapegrad.core.annotations import Any, Array, Namespace
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import no_complex

__all__ = ["fmax", "fmin", "maximum", "minimum"]


def _no_complex(name: str) -> Any:
    return no_complex(f"{name} not implemented for complex tensors.")


def _shared(xp: Namespace, g: Array, loses: Any, ties: Any) -> Any:
    """The gradient of one of two: nothing where it loses, half where they tie."""
    return xp.where(loses, 0.0, xp.where(ties, g / 2, g))


@vjp(
    input=lambda xp, g, input, other: _shared(xp, g, input < other, input == other),
    other=lambda xp, g, input, other: _shared(xp, g, other < input, input == other),
)
@elementwise(numbers=False, ufunc="maximum", check=_no_complex("maximum"))
def maximum(xp, input, other):
    """The greater of two, element by element; nan if one of them is.

    >>> torch.maximum(torch.tensor([1.0, 4.0]), torch.tensor([3.0, 2.0]))
    tensor([3., 4.])
    """
    return xp.maximum(input, other)


@vjp(
    input=lambda xp, g, input, other: _shared(xp, g, input > other, input == other),
    other=lambda xp, g, input, other: _shared(xp, g, other > input, input == other),
)
@elementwise(numbers=False, ufunc="minimum", check=_no_complex("minimum"))
def minimum(xp, input, other):
    """The less of two, element by element; nan if one of them is.

    >>> torch.minimum(torch.tensor([1.0, 4.0]), torch.tensor([3.0, 2.0]))
    tensor([1., 2.])
    """
    return xp.minimum(input, other)


def _of_winner(xp: Namespace, input: Array, other: Array, beats: Any, g: Array, rest: Any) -> Any:
    """`g` where the first operand wins or draws, or the second is nan; else `rest`."""
    return xp.where(xp.logical_or(xp.logical_or(beats, input == other), other != other), g, rest)


@vjp(
    input=lambda xp, g, input, other: _of_winner(xp, input, other, input > other, g, 0.0),
    other=lambda xp, g, input, other: _of_winner(xp, input, other, input > other, 0.0, g),
)
@elementwise(numbers=False, ufunc="fmax", kernels=("fmax",), check=_no_complex("fmax"))
def fmax(xp, input, other):
    """The greater of two, element by element; where one is nan, the other.

    >>> torch.fmax(torch.tensor([1.0, 4.0]), torch.tensor([3.0, float("nan")]))
    tensor([3., 4.])
    """
    return xp.fmax(input, other)


@vjp(
    input=lambda xp, g, input, other: _of_winner(xp, input, other, input < other, g, 0.0),
    other=lambda xp, g, input, other: _of_winner(xp, input, other, input < other, 0.0, g),
)
@elementwise(numbers=False, ufunc="fmin", kernels=("fmin",), check=_no_complex("fmin"))
def fmin(xp, input, other):
    """The less of two, element by element; where one is nan, the other.

    >>> torch.fmin(torch.tensor([1.0, 4.0]), torch.tensor([3.0, float("nan")]))
    tensor([1., 4.])
    """
    return xp.fmin(input, other)
