"""Rounding, signs, absolute values: functions made of steps."""

import math

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import also_called, require_tensors
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, jvp, vjp
from tapegrad.operators.dtype_check import BOOL, COMPLEX, INTEGER, lacks, no_complex

__all__ = [
    "abs", "abs_", "absolute", "ceil", "ceil_", "fix", "fix_", "floor", "floor_", "frac", "frac_",
    "round", "round_", "sgn", "sign", "trunc", "trunc_",
]  # fmt: skip


@jvp(x=lambda xp, t, x: along(xp, t, _sign(xp, x)))
@vjp(x=lambda xp, g, x: g * _sign(xp, x))
@elementwise(ufunc="abs", holomorphic=False, check=lacks("abs_cpu", BOOL))
def abs(xp, x):
    """The absolute value of each element.

    >>> torch.abs(torch.tensor([-1.5, 2.0]))
    tensor([1.5000, 2.0000])
    """
    return xp.abs(x)


def along(xp: Namespace, t: Array, direction: Any) -> Any:
    """The component of `t` along a number of modulus 1: for real numbers, their product."""
    if not xp.isdtype(t.dtype, "complex floating"):
        return t * direction
    return xp.real(t) * xp.real(direction) + xp.imag(t) * xp.imag(direction)


# --- signs -----------------------------------------------------------------------------------


_USE_SGN = (
    "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn "
    "instead."
)


def _sign(xp: Namespace, x: Array) -> Any:
    if xp.isdtype(x.dtype, "bool"):
        return xp.logical_or(x, x)
    found = xp.sign(x)
    return xp.where(x == x, found, 0) if xp.isdtype(x.dtype, "real floating") else found


@vjp(x=lambda xp, g: xp.zeros_like(g))
@elementwise(check=no_complex(_USE_SGN, NotImplementedError))
def sign(xp, x):
    """-1, 0 or 1: the sign of each element; nan has none, 0.

    >>> torch.sign(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """
    return _sign(xp, x)


sign_ = in_place(sign)


def _sgn_rule(xp: Namespace, g: Array, x: Array, y: Array) -> Any:
    """Real numbers: 0. Complex: what turns the number, over its modulus."""
    if not xp.isdtype(x.dtype, "complex floating"):
        return xp.zeros_like(g)
    modulus = xp.abs(x)
    return xp.where(modulus == 0, 0.0, (g - along(xp, g, y) * y) / modulus)


@jvp(x=lambda xp, t, x, y: _sgn_rule(xp, t, x, y))
@vjp(x=_sgn_rule)
@elementwise(holomorphic=False)
def sgn(xp, x):
    """The sign of each element; of a complex number, the number of modulus 1 in its direction.

    >>> torch.sgn(torch.tensor([-1.5, 0.0, 2.0]))
    tensor([-1.,  0.,  1.])
    """
    return _sign(xp, x)


sgn_ = in_place(sgn)


# --- rounding --------------------------------------------------------------------------------


def _check(name: str) -> Any:
    refuse_bool = lacks(f"{name}_vml_cpu", BOOL)
    refuse_complex = no_complex(f"{name} is not supported for complex inputs", NotImplementedError)

    def check(x: Tensor) -> None:
        refuse_bool(x)
        refuse_complex(x)

    return check


def _is_integer(xp: Namespace, x: Array) -> bool:
    return xp.isdtype(x.dtype, "integral")


@vjp(x=lambda xp, g: xp.zeros_like(g))
@elementwise(check=_check("floor"))
def floor(xp, x):
    """The largest integer not above each element.

    >>> torch.floor(torch.tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
    """
    return +x if _is_integer(xp, x) else xp.floor(x)


@vjp(x=lambda xp, g: xp.zeros_like(g))
@elementwise(check=_check("ceil"))
def ceil(xp, x):
    """The smallest integer not below each element.

    >>> torch.ceil(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
    """
    return +x if _is_integer(xp, x) else xp.ceil(x)


@vjp(x=lambda xp, g: xp.zeros_like(g))
@elementwise(check=_check("trunc"))
def trunc(xp, x):
    """Each element without its fraction.

    >>> torch.trunc(torch.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
    """
    return +x if _is_integer(xp, x) else xp.trunc(x)


@vjp(x=lambda g: g)
@elementwise(check=lacks("frac_cpu", BOOL, INTEGER, COMPLEX))
def frac(xp, x):
    """The fraction of each element, with its sign.

    >>> torch.frac(torch.tensor([-1.5, 1.25]))
    tensor([-0.5000,  0.2500])
    """
    return x - xp.trunc(x)


@vjp(x=lambda xp, g: xp.zeros_like(g))
@elementwise(name="round", check=lacks("round_vml_cpu", BOOL, COMPLEX))
def round_half_even(xp, x):
    """The nearest integer, the even one of two as near."""
    return +x if _is_integer(xp, x) else xp.round(x)


@vjp(x=lambda xp, g: xp.zeros_like(g))
@elementwise(node="RoundBackward1")
def round_decimals(xp, x, *, decimals):
    """The nearest number of `decimals` decimals."""
    if decimals == 0:
        return xp.round(x)
    places = decimals if decimals > 0 else -decimals
    scale = 10.0**places if places < 309 else math.inf
    return xp.round(x * scale) / scale if decimals > 0 else xp.round(x / scale) * scale


@require_tensors
def round(input: Tensor, *, decimals: int | None = None, out: Out = None) -> Any:
    """The nearest integer, or number of `decimals` decimals; halves go to the even neighbour.

    Shape: any, and that of the result.

    >>> torch.round(torch.tensor([0.5, 1.5, -2.6]))
    tensor([ 0.,  2., -3.])
    >>> torch.round(torch.tensor([0.1234]), decimals=2)
    tensor([0.1200])
    """
    if decimals is None:
        return round_half_even(input) if out is None else round_half_even(input, out=out)
    lacks("round_cpu" if decimals else "round_vml_cpu", BOOL, INTEGER, COMPLEX)(input)
    return finish("round", round_decimals(input, decimals=decimals), out, input)


@require_tensors
def special_round(input: Tensor, *, decimals: int = 0, out: Out = None) -> Any:
    """The nearest number of `decimals` decimals: `torch.round` of floating-point numbers.

    Shape: any, and that of the result.
    Raises: NotImplementedError for integers.

    >>> torch.special.round(torch.tensor([0.25, 1.5]), decimals=1)
    tensor([0.2000, 1.5000])
    """
    return round(input, decimals=decimals, out=out)


def _check_real(x: Any) -> None:
    if x.dtype.is_complex:
        text = "In-place abs is not supported for complex tensors."
        raise errors.runtime_error(text, "abs() gives a real tensor.")


abs_ = in_place(abs, check=_check_real)
floor_, ceil_, trunc_ = in_place(floor), in_place(ceil), in_place(trunc)
frac_, round_ = in_place(frac), in_place(round)
absolute = also_called("absolute", abs)
absolute_ = also_called("absolute_", abs_)
fix = also_called("fix", trunc)
fix_ = also_called("fix_", trunc_)
