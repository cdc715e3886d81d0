"""Powers and roots."""

import cmath
import math

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors, two_operands
from tapegrad.core.dtype import complex128, float64
from tapegrad.core.promote_types import promote
from tapegrad.core.result_order import row_major
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import BOOL, common_dtype, lacks, two_numbers
from tapegrad.operators.with_number import times_number

__all__ = ["float_power", "pow", "rsqrt", "rsqrt_", "sqrt", "sqrt_", "square", "square_"]


@vjp(x=lambda g, y: g / (2 * y))
@elementwise(promote="float", ufunc="sqrt")
def sqrt(xp, x):
    """The square root of each element.

    >>> torch.sqrt(torch.tensor([4.0, 9.0]))
    tensor([2., 3.])
    """
    return xp.sqrt(x)


sqrt.recorded(x=lambda g, y: g / times_number(y, number=2))


@vjp(x=lambda g, y: -0.5 * g * (y * y * y))
@elementwise(promote="float")
def rsqrt(xp, x):
    """One divided by the square root of each element.

    >>> torch.rsqrt(torch.tensor([4.0, 16.0]))
    tensor([0.5000, 0.2500])
    """
    return 1 / xp.sqrt(x)


# --- powers ----------------------------------------------------------------------------------


def _power(xp: Namespace, x: Array, exponent: Array) -> Any:
    """The power by a number: small exponents by multiplication, which is exact and fast."""
    if exponent == 2:
        return x * x
    if exponent == 1:
        return +x
    if exponent == 3:
        return x * x * x
    if xp.isdtype(x.dtype, "integral"):
        return _integer_power(xp, x, exponent)
    if exponent == 0.5:
        return xp.sqrt(x)
    if exponent == -0.5:
        return 1 / xp.sqrt(x)
    if exponent == -1:
        return 1 / x
    if exponent == -2:
        return 1 / (x * x)
    return _any_power(xp, x, exponent)


def _any_power(xp: Namespace, x: Array, exponent: Any) -> Any:
    """x ** exponent; of complex 0 infinite where the exponent is negative, as with numbers -1."""
    y = xp.pow(x, exponent)
    if not xp.isdtype(y.dtype, "complex floating"):
        return y
    real = exponent.real if isinstance(exponent, (int, float, complex)) else xp.real(exponent)
    return xp.where(xp.logical_and(x == 0, real < 0), complex(math.inf, math.nan), y)


def _integer_power(xp: Namespace, x: Array, exponent: Array) -> Any:
    """The power of integers: a negative exponent leaves 1 of 1, signs of -1, nothing of others."""
    exponent = xp.asarray(exponent, dtype=x.dtype)
    negative = exponent < 0
    one = xp.ones_like(x)
    signs = xp.where(x == -1, xp.where(exponent % 2 == 0, one, -one), xp.zeros_like(x))
    inverse = xp.where(x == 1, one, signs)
    return xp.where(negative, inverse, xp.pow(x, xp.where(negative, -exponent, exponent)))


def _refuse_negative(x: Tensor, exponent: Scalar) -> None:
    if exponent is not None and isinstance(exponent, int) and exponent < 0:
        if promote([x._array, exponent]).category < 2:
            text = "Integers to negative integer powers are not allowed."
            advice = "Convert to a floating-point type first: x.float() ** exponent."
            raise errors.runtime_error(text, advice)


def _slope(xp: Namespace, g: Array, x: Array, exponent: Any) -> Any:
    """Where it is recorded, a power again, as in PyTorch: its own derivatives are powers, too."""
    if exponent == 0:
        return xp.zeros_like(g)
    if isinstance(x, tensor_base.TensorBase):
        return g * times_number(x ** (exponent - 1), number=exponent)
    return g * (_power(xp, x, exponent - 1) * exponent)


@vjp(x=_slope)
@elementwise(name="pow", node="PowBackward0", hidden=("exponent",), check=_refuse_negative)
def power_by_number(xp, x, exponent):
    """`x ** exponent` for a number `exponent`."""
    if xp.isdtype(x.dtype, "bool"):  # then the exponent is one, too
        return xp.logical_or(x, xp.logical_not(xp.asarray(exponent, dtype=xp.bool)))
    return _power(xp, x, exponent)


def _power_in_exponent(xp: Namespace, g: Array, x: Array, exponent: Array, y: Array) -> Any:
    """g y log(x), and 0 where x is 0, unless the exponent is negative."""
    is_complex = xp.isdtype(exponent.dtype, "complex floating")
    positive = (xp.real(exponent) if is_complex else exponent) >= 0
    at_zero = xp.logical_and(x == 0, positive)
    log = xp.log(xp.astype(x, y.dtype) if is_complex else x)
    return xp.where(at_zero, 0.0, g * (y * log))


@vjp(
    x=lambda xp, g, x, exponent: xp.where(
        exponent == 0, 0.0, g * (exponent * xp.pow(x, exponent - 1))
    ),
    exponent=_power_in_exponent,
)
@elementwise(node="PowBackward1", check=lacks("pow", BOOL))
def power(xp, x, exponent):
    """`x ** exponent`, element by element."""
    if xp.isdtype(x.dtype, "integral"):
        return _integer_power(xp, x, exponent)
    return _any_power(xp, x, exponent)


def _power_of_number_rule(xp: Namespace, g: Array, exponent: Array, base: Any, y: Array) -> Any:
    if base == 0:
        none = xp.zeros_like(exponent)  # constants: no nan in derivatives of derivatives
        slope = xp.where(exponent < 0, none - math.inf, none + math.nan)
        return g * xp.where(exponent >= 0, none, slope)
    if isinstance(base, complex) or xp.isdtype(exponent.dtype, "complex floating"):
        return g * (y * cmath.log(base))
    return g * (y * (math.log(float(base)) if base > 0 else math.nan))


@vjp(exponent=_power_of_number_rule)
@elementwise(node="PowBackward2", hidden=("base",), order=row_major)
def power_of_number(xp, exponent, base):
    """`base ** exponent` for a number `base`."""
    if xp.isdtype(exponent.dtype, "integral"):
        return _integer_power(xp, xp.asarray(base, dtype=exponent.dtype), exponent)
    if base == 0 and xp.isdtype(exponent.dtype, "complex floating"):
        return _any_power(xp, xp.zeros_like(exponent), exponent)
    return xp.pow(base, exponent)


def _check(name: str, input: Tensor, exponent: Any) -> None:
    if not hasattr(input, "_array") and not hasattr(exponent, "_array"):
        form = "Number self, Tensor exponent, *, Tensor out = None"
        raise two_numbers(name, (input, exponent), "input", "exponent", form)


@two_operands()
def pow(input: Tensor, exponent: Any, *, out: Out = None) -> Any:
    """`input` to the power of `exponent`; either may be a number.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    >>> torch.pow(2, torch.tensor([1.0, 2.0, 3.0]))
    tensor([2., 4., 8.])
    """
    if hasattr(input, "_array"):
        by = power if hasattr(exponent, "_array") else power_by_number
    else:
        _check("pow", input, exponent)
        by, input, exponent = power_of_number, exponent, input
    return by.direct(input, exponent) if out is None else by(input, exponent, out=out)


@require_tensors
def square(input: Tensor, *, out: Out = None) -> Any:
    """The square of each element.

    Shape: any, and that of the result.

    >>> torch.square(torch.tensor([1.0, -2.0]))
    tensor([1., 4.])
    """
    by = power_by_number
    return by.direct(input, 2) if out is None else by(input, 2, out=out)


@require_tensors
def float_power(input: Tensor, exponent: Any, *, out: Out = None) -> Any:
    """The power computed in double precision.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.float_power(torch.tensor([2, 3]), 2)
    tensor([4., 9.], dtype=torch.float64)
    """
    _check("float_power", input, exponent)
    dtype = _double(input, exponent)
    if out is not None:
        _check_double("output given to float_power", out, dtype)
    wide = [x.to(dtype) if hasattr(x, "_array") else x for x in (input, exponent)]
    return finish("pow", pow(*wide), out)


def _double(input: Tensor, exponent: Any) -> Any:
    """The dtype of a power computed in double precision."""
    return complex128 if common_dtype(input, exponent).is_complex else float64


def _check_double(what: str, x: Any, wanted: Any) -> None:
    if x.dtype is not wanted:
        raise errors.runtime_error(
            f"the {what} has dtype {x.dtype.scalar_name} but the operation's result requires "
            f"dtype {wanted.scalar_name}",
            f"Convert it with .to({wanted}).",
        )


def _check_base(input: Tensor, exponent: Any) -> None:
    _check_double("base given to float_power_", input, _double(input, exponent))


sqrt_, rsqrt_, pow_, square_ = in_place(sqrt), in_place(rsqrt), in_place(pow), in_place(square)
float_power_ = in_place(float_power, first=_check_base)
