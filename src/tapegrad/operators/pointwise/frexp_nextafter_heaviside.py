"""Parts of numbers: sign bit, mantissa and exponent; nextafter, gcd and lcm, heaviside."""

import math

from tapegrad import return_types
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import of
from tapegrad.core.promote_types import promote
from tapegrad.core.result_order import in_operands_order
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import constant_elementwise, elementwise, jvp, primitive, vjp
from tapegrad.operators.dtype_check import (
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGER,
    common_dtype,
    lacks,
    no_complex,
    no_derivative,
    require_integers,
)

__torch__ = """
    frexp gcd gcd_ heaviside isneginf isposinf isreal lcm lcm_ ldexp ldexp_ nextafter signbit
"""

LN2 = math.log(2)
INF = math.inf


# --- properties ------------------------------------------------------------------------------


def _floating(xp: Namespace, x: Array) -> bool:
    return xp.isdtype(x.dtype, "real floating")


@constant_elementwise(
    check=no_complex("signbit is not implemented for complex tensors.", NotImplementedError)
)
def signbit(xp, x):
    """Where the sign is a minus, that of zero too.

    >>> torch.signbit(torch.tensor([-0.0, 0.0, -1.0]))
    tensor([ True, False,  True])
    """
    if _floating(xp, x):
        return xp.signbit(x)
    return xp.zeros_like(x) if xp.isdtype(x.dtype, "bool") else x < 0


@constant_elementwise(check=no_complex("isposinf does not support complex inputs."))
def isposinf(xp, x):
    """Where the elements are +inf.

    >>> torch.isposinf(torch.tensor([float("inf"), float("-inf"), 1.0]))
    tensor([ True, False, False])
    """
    return x == INF if _floating(xp, x) else xp.zeros_like(x, dtype=xp.bool)


@constant_elementwise(check=no_complex("isneginf does not support complex inputs."))
def isneginf(xp, x):
    """Where the elements are -inf.

    >>> torch.isneginf(torch.tensor([float("inf"), float("-inf"), 1.0]))
    tensor([False,  True, False])
    """
    return x == -INF if _floating(xp, x) else xp.zeros_like(x, dtype=xp.bool)


@constant_elementwise
def isreal(xp, x):
    """Where the imaginary part is zero.

    >>> torch.isreal(torch.tensor([1j, 2 + 0j]))
    tensor([False,  True])
    """
    if xp.isdtype(x.dtype, "complex floating"):
        return xp.imag(x) == 0
    return xp.ones_like(x, dtype=xp.bool)


# --- mantissa, exponent, neighbours ----------------------------------------------------------


@jvp(x=lambda xp, t, exponent: xp.ldexp(t, -exponent))
@vjp(x=lambda xp, g, exponent: xp.ldexp(g, -exponent))
@primitive(
    node="FrexpBackward0",
    outputs=("mantissa", "exponent"),
    nondiff=("exponent",),
    kernels=("frexp",),
    order=in_operands_order,
)
def mantissa_and_exponent(xp, x):
    """`x = mantissa * 2**exponent`, the mantissa between 0.5 and 1."""
    return xp.frexp(x)


@require_tensors
def frexp(input: Tensor, *, out: Out = None) -> Any:
    """Mantissa, between 0.5 and 1, and exponent of base 2 of each element.

    `input = mantissa * 2**exponent`

    Shapes: both the input's.
    Raises: RuntimeError for integers.

    >>> mantissa, exponent = torch.frexp(torch.tensor([3.0, 8.0]))
    >>> mantissa, exponent
    (tensor([0.7500, 0.5000]), tensor([2, 4], dtype=torch.int32))
    """
    if of(input._array.dtype).category != FLOATING:
        text = "torch.frexp() only supports floating-point dtypes"
        raise errors.runtime_error(text, "Convert first, for example with .to(torch.float32).")
    return finish("frexp", return_types.frexp(mantissa_and_exponent(input)), out, input)


def _check_exponent(input: Tensor, other: Scalar) -> None:
    if common_dtype(input).category == FLOATING:
        lacks("ldexp_cpu_exp", BOOL)(other)


def _scaled(xp: Namespace, x: Array, exponent: Array) -> Any:
    """`x * 2**exponent` in two steps, so that 2**exponent alone does not overflow."""
    if xp.isdtype(exponent.dtype, "complex floating"):
        return x * xp.pow(2.0, exponent)
    half = xp.where(xp.isinf(exponent), exponent, xp.floor(exponent / 2))
    rest = xp.where(xp.isinf(exponent), 0.0, exponent - half)
    return x * xp.pow(2.0, half) * xp.pow(2.0, rest)


@vjp(input=lambda xp, g, other: _scaled(xp, g, other), other=lambda g, y: g * y * LN2)
@elementwise(promote="float", numbers=False, check=_check_exponent)
def ldexp(xp, input, other):
    """`input * 2**other`.

    >>> torch.ldexp(torch.tensor([0.75, 0.5]), torch.tensor([2, 4]))
    tensor([3., 8.])
    """
    return _scaled(xp, input, other)


ldexp_ = in_place(ldexp)


@vjp(
    input=lambda xp, g, input, other: xp.where(input == other, 0.0, g),
    other=lambda xp, g: xp.zeros_like(g),
)
@elementwise(name="nextafter", numbers=False, check=lacks("nextafter_cpu", BOOL, INTEGER, COMPLEX))
def neighbour(xp, input, other):
    """The next floating-point number from `input` on the way to `other`."""
    return xp.nextafter(input, other)


@jvp(
    input=lambda xp, t, input, other: xp.where(input == other, 0.0, t),
    other=lambda xp, input, other: xp.zeros_like(input + other),
)
@vjp(
    input=lambda xp, g, input, other: sum_to_shape(
        xp, xp.where(input == other, 0.0, g), input.shape
    ),
    other=lambda xp, g, other_like: xp.zeros(other_like.shape, dtype=g.dtype),
)
@primitive(node="NextafterBackward0", widens=False, order=in_operands_order)
def narrow_neighbour(xp, input, other):
    """The same among numbers of 16 bits, which are not those of 32 bits rounded."""
    return xp.nextafter(input, other)


@require_tensors
def nextafter(input: Tensor, other: Any, *, out: Out = None) -> Any:
    """The next floating-point number from `input` on the way to `other`.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.nextafter(torch.tensor(0.0), torch.tensor(1.0)).item() > 0
    True
    """
    if hasattr(input, "_array") and hasattr(other, "_array"):
        dtype = promote([input._array, other._array])
        if dtype.is_floating_point and dtype.itemsize == 2:
            return finish(
                "nextafter", narrow_neighbour(input.to(dtype), other.to(dtype)), out, input, other
            )
    return neighbour(input, other, out=out)


# --- divisors and steps ----------------------------------------------------------------------


@constant_elementwise(numbers=False, kernels=("gcd",), check=lacks("gcd_cpu", BOOL, FLOATING))
def gcd(xp, input, other):
    """The greatest common divisor of integers.

    >>> torch.gcd(torch.tensor([12, 5]), torch.tensor([18, 10]))
    tensor([6, 5])
    """
    require_integers(xp, "gcd_cpu", input, bools=False)
    return xp.gcd(input, other)


@constant_elementwise(numbers=False, kernels=("lcm",), check=lacks("lcm_cpu", BOOL, FLOATING))
def lcm(xp, input, other):
    """The least common multiple of integers.

    >>> torch.lcm(torch.tensor([12, 5]), torch.tensor([18, 10]))
    tensor([36, 10])
    """
    require_integers(xp, "lcm_cpu", input, bools=False)
    dtype = input.dtype
    if dtype.itemsize < 4:  # as PyTorch's arithmetic, which cuts the result to the dtype
        input, other = xp.astype(input, xp.int32), xp.astype(other, xp.int32)
    # PyTorch's is not negative where it overflows, too
    return xp.astype(xp.abs(xp.lcm(input, other)), dtype)


@elementwise(name="heaviside", node="NotImplemented", numbers=False)
def unit_step(xp, input, values):
    """0 below zero, 1 above, `values` at zero."""
    one = xp.ones_like(input)
    return xp.where(input == 0, values, xp.where(input > 0, one, xp.zeros_like(input)))


_refuse = no_derivative("heaviside", "Its slope is zero wherever it has one: detach() the input.")
unit_step.vjp(input=_refuse, values=_refuse)


@require_tensors
def heaviside(input: Tensor, values: Tensor, *, out: Out = None) -> Any:
    """The unit step: 0 where `input` is negative, 1 where positive, `values` where zero.

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError where the dtypes differ.

    >>> torch.heaviside(torch.tensor([-1.5, 0.0, 2.0]), torch.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    if hasattr(input, "_array") and hasattr(values, "_array"):
        no_complex("heaviside is not yet implemented for complex tensors.")(input, values)
        if input.dtype is not values.dtype:
            text = "heaviside is not yet implemented for tensors with different dtypes."
            raise errors.runtime_error(text, "Give both tensors one dtype.")
    return unit_step(input, values, out=out)


nextafter_, gcd_, lcm_ = in_place(nextafter), in_place(gcd), in_place(lcm)
heaviside_ = in_place(heaviside)
