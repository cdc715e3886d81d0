"""Remainders of a division: remainder, with the divisor's sign, and fmod, with the dividend's."""

from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import two_operands
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators import dtype_check
from tapegrad.operators.pointwise.divide_reciprocal import of_integers, truncated

__all__ = ["fmod", "remainder"]


def _modulo(xp: Namespace, input: Array, other: Array) -> Any:
    of_integers(xp, input, other)
    return xp.remainder(input, other)


_numbers_only = dtype_check.some_tensor(
    "remainder", dtype_check.lacks("remainder_cpu", dtype_check.BOOL, dtype_check.COMPLEX)
)


@vjp(input=lambda g: g, other=lambda xp, g, input, other: -g * xp.floor_divide(input, other))
@elementwise(name="remainder", node="RemainderBackward1", check=_numbers_only)
def modulo(xp, input, other):
    """What `floor_divide` leaves over, with the sign of `other`."""
    return _modulo(xp, input, other)


@vjp(input=lambda g: g)
@elementwise(node="RemainderBackward0", hidden=("other",), check=_numbers_only)
def remainder_number(xp, input, other):
    """The same for a number `other`."""
    return _modulo(xp, input, other)


@vjp(other=dtype_check.no_derivative("remainder", "Make a tensor of the number: it has one then."))
@elementwise(node="NotImplemented", hidden=("number",), check=_numbers_only)
def remainder_of_number(xp, other, number):
    """What a number leaves over."""
    return _modulo(xp, number, other)


@two_operands()
def remainder(input: Tensor, other: Scalar, *, out: Out = None) -> Any:
    """What is left of `input` after as many whole `other` as fit, with the sign of `other`.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.remainder(torch.tensor([-3.0, 3.0]), 2)
    tensor([1., 1.])
    """
    by: Any = modulo
    operands: tuple = (input, other)
    if not hasattr(other, "_array"):
        by = remainder_number
    elif not hasattr(input, "_array"):
        by, operands = remainder_of_number, (other, input)
    return by.direct(*operands) if out is None else by(*operands, out=out)


def _fmod(xp: Namespace, input: Array, other: Array) -> Any:
    if of_integers(xp, input, other):
        return input - other * truncated(xp, input, other)
    return xp.fmod(input, other)


_no_bools = dtype_check.tensor_first(
    "fmod", "other", dtype_check.lacks("fmod_cpu", dtype_check.BOOL, dtype_check.COMPLEX)
)


@vjp(input=lambda g: g, other=lambda xp, g, input, other: -g * xp.trunc(input / other))
@elementwise(name="fmod", node="FmodBackward1", kernels=("fmod",), check=_no_bools)
def fmod_tensors(xp, input, other):
    """What division towards zero leaves over, with the sign of `input`."""
    return _fmod(xp, input, other)


@vjp(input=lambda g: g)
@elementwise(node="FmodBackward0", hidden=("other",), kernels=("fmod",), check=_no_bools)
def fmod_number(xp, input, other):
    """The same for a number `other`."""
    return _fmod(xp, input, other)


@two_operands()
def fmod(input: Tensor, other: Scalar, *, out: Out = None) -> Any:
    """What is left of `input` after division by `other` towards zero, with the sign of `input`.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.fmod(torch.tensor([-3.0, 3.0]), 2)
    tensor([-1.,  1.])
    """
    of = fmod_tensors if hasattr(other, "_array") else fmod_number
    return of.direct(input, other) if out is None else of(input, other, out=out)


remainder_, fmod_ = in_place(remainder), in_place(fmod)
