"""Parts of complex numbers: real, imaginary, conjugate, angle; views with another sign."""

from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending, require_tensors
from tapegrad.core.dtype import of
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import in_operands_order, row_major
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, jvp, linear, vjp
from tapegrad.operators.conversion.metadata import is_conj, is_neg
from tapegrad.operators.pointwise.rounding_abs_sign import along
from tapegrad.operators.shape.clone import clone

__all__ = [
    "angle", "conj", "conj_physical", "conj_physical_", "imag", "real", "resolve_conj",
    "resolve_neg",
]  # fmt: skip
__torch__ = "_conj _neg_view"


def _is_complex(input: Tensor) -> bool:
    return of(input._array.dtype).is_complex


# --- the conjugate, computed at once ---------------------------------------------------------


@jvp(x=lambda xp, t: xp.conj(t))
@vjp(x=lambda xp, g: xp.conj(g))
@elementwise(name="conj_physical", holomorphic=False, ufunc="conjugate")
def conjugate(xp, x):
    """Each element with its imaginary part negated."""
    return xp.conj(x)


# --- views of which the sign is turned where they are read: core/conj_neg_view.py ---------------


@fallback("conj_view")
def _conj_copy(xp: Namespace, x: Array) -> Any:
    return xp.conj(x)


@fallback("neg_view")
def _neg_copy(xp: Namespace, x: Array) -> Any:
    return xp.negative(x)


@vjp(x=lambda xp, g: xp.conj(g))
@linear(name="conj", view=True, holomorphic=False, kernels=("conj_view",))
def conj_view(xp, x):
    """Each element with its imaginary part negated where it is read."""
    return kernel_of(xp, "conj_view")(x)


@vjp(x=lambda xp, g: xp.negative(g))
@linear(name="_neg_view", view=True, kernels=("neg_view",))
def neg_view(xp, x):
    """Each element negated where it is read."""
    return kernel_of(xp, "neg_view")(x)


def _conj(input: Tensor) -> Any:
    """The view behind `conj`."""
    errors.need_tensors("_conj", input=input)
    return conj_view(input)


def _neg_view(input: Tensor) -> Any:
    """The numbers negated where they are read: a view."""
    errors.need_tensors("_neg_view", input=input)
    return neg_view(input)


@require_tensors
def conj(input: Tensor) -> Any:
    """Complex numbers with the imaginary part negated; a real tensor as it is.

    They are a view, conjugated where it is read; `resolve_conj` gives it memory of its own.

    Shape: any, and that of the result.

    >>> x = torch.tensor([1 + 2j])
    >>> y = torch.conj(x)
    >>> y[0] = 3 + 4j
    >>> x, y
    (tensor([3.-4.j]), tensor([3.+4.j]))
    """
    return conj_view(input) if _is_complex(input) else input


@require_tensors
def conj_physical(input: Tensor, *, out: Out = None) -> Any:
    """The same as `conj`, in memory of its own.

    Shape: any, and that of the result.

    >>> torch.conj_physical(torch.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return input if out is None and not _is_complex(input) else conjugate(input, out=out)


conj_physical_ = in_place(conj_physical)


@overridable
@mending
def resolve_conj(input: Tensor = MISSING, **names: Any) -> Any:
    """A copy of a view that conjugates what it reads; any other tensor itself.

    Shape: any, and that of the result.

    >>> torch.resolve_conj(torch.tensor([1 + 2j]).conj()).is_conj()
    False
    """
    if names or input is MISSING:
        return mended(resolve_conj, None, (input,), names)
    errors.need_tensors("resolve_conj", input=input)
    return clone(input) if is_conj(input) else input


@overridable
@mending
def resolve_neg(input: Tensor = MISSING, **names: Any) -> Any:
    """A copy of a view that negates what it reads; any other tensor itself.

    Shape: any, and that of the result.

    >>> torch.resolve_neg(torch.tensor([1 + 2j]).conj().imag).is_neg()
    False
    """
    if names or input is MISSING:
        return mended(resolve_neg, None, (input,), names)
    errors.need_tensors("resolve_neg", input=input)
    return clone(input) if is_neg(input) else input


# --- real and imaginary part -----------------------------------------------------------------


@vjp(x=lambda xp, g, x_like: xp.astype(g, x_like.dtype))
@linear(node="RealBackward0", view=True, holomorphic=False)
def real_part(xp, x):
    """The real parts."""
    return xp.real(x)


@vjp(x=lambda xp, g, x_like: xp.astype(g, x_like.dtype) * 1j)
@linear(node="ImagBackward0", view=True, holomorphic=False)
def imaginary_part(xp, x):
    """The imaginary parts."""
    return xp.imag(x)


@require_tensors
def real(input: Tensor) -> Any:
    """The real parts, a view; a real tensor as it is.

    Shape: any, and that of the result.

    >>> torch.real(torch.tensor([1 + 2j]))
    tensor([1.])
    """
    if not _is_complex(input):
        return input
    return real_part(conj_view(input) if is_conj(input) else input)


@require_tensors
def imag(input: Tensor) -> Any:
    """The imaginary parts, a view.

    Shape: any, and that of the result.
    Raises: RuntimeError for real numbers.

    >>> torch.imag(torch.tensor([1 + 2j]))
    tensor([2.])
    """
    if not _is_complex(input):
        text = "imag is not implemented for tensors with non-complex dtypes."
        advice = "A real tensor has no imaginary part: torch.zeros_like(x) stands for it."
        raise errors.runtime_error(text, advice)
    return neg_view(imaginary_part(conj_view(input))) if is_conj(input) else imaginary_part(input)


def _order_of_angle(result: Any, operands: list, params: dict) -> Any:
    """That of the operand where it is real; row-major where it is complex, as in PyTorch."""
    rule = row_major if operands[0].dtype.kind == "c" else in_operands_order
    return rule(result, operands)


def _angle_rule(xp: Namespace, g: Array, x: Array) -> Any:
    """Across the direction of the number, over its modulus; 0 at 0 and for real numbers."""
    if not xp.isdtype(x.dtype, "complex floating"):
        return xp.zeros_like(g)
    a, b = xp.real(x), xp.imag(x)
    square = a * a + b * b
    ratio = xp.where(square == 0, 0.0, g / square)
    return ratio * (x * 1j)


@jvp(x=lambda xp, t, x: along(xp, t, _angle_rule(xp, xp.ones_like(xp.abs(x)), x)))
@vjp(x=_angle_rule)
@elementwise(promote="float", holomorphic=False, order=_order_of_angle)
def angle(xp, x):
    """The angle of a complex number, from -pi to pi; of a real number 0, or pi if negative.

    >>> torch.angle(torch.tensor([1j, -1 + 0j]))
    tensor([1.5708, 3.1416])
    """
    if xp.isdtype(x.dtype, "complex floating"):
        return xp.atan2(xp.imag(x), xp.real(x))
    turned = xp.where(x < 0, xp.pi, xp.zeros_like(x))
    return xp.where(x == x, turned, x)
