"""Complex numbers from two real tensors: their parts, or their absolute value and angle."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import float16, float32, float64
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import elementwise, jvp, vjp


def _joined(xp: Namespace, real: Any, imag: Any) -> Any:
    # not real + 1j * imag: infinite times 0 is nan
    return xp.from_pairs(xp.stack(xp.broadcast_arrays(real, imag), axis=-1))


@jvp(
    real=lambda xp, t: _joined(xp, t, xp.zeros_like(t)),
    imag=lambda xp, t: _joined(xp, xp.zeros_like(t), t),
)
@vjp(real=lambda xp, g: xp.real(g), imag=lambda xp, g: xp.imag(g))
@elementwise(node="ComplexBackward0", holomorphic=False, kernels=("from_pairs",))
def join_parts(xp, real, imag):
    """The complex numbers with these real and imaginary parts."""
    return _joined(xp, real, imag)


@jvp(
    abs=lambda xp, t, angle: _joined(xp, t * xp.cos(angle), t * xp.sin(angle)),
    angle=lambda xp, t, abs, angle: _joined(xp, -t * abs * xp.sin(angle), t * abs * xp.cos(angle)),
)
@vjp(
    abs=lambda xp, g, angle: xp.real(g) * xp.cos(angle) + xp.imag(g) * xp.sin(angle),
    angle=lambda xp, g, abs, angle: abs * (xp.imag(g) * xp.cos(angle) - xp.real(g) * xp.sin(angle)),
)
@elementwise(node="PolarBackward0", holomorphic=False, kernels=("from_pairs",))
def join_polar(xp, abs, angle):
    """The complex numbers with these absolute values and angles."""
    return _joined(xp, abs * xp.cos(angle), abs * xp.sin(angle))


_PARTS = (float16, float32, float64)


def _check(name: str, names: tuple[str, str], a: Tensor, b: Tensor) -> None:
    errors.need_tensors(name, **dict(zip(names, (a, b), strict=True)))
    if a.dtype not in _PARTS or b.dtype not in _PARTS:
        raise errors.runtime_error(
            "Expected both inputs to be Half, Float or Double tensors but got "
            f"{a.dtype.scalar_name} and {b.dtype.scalar_name}",
            "Convert them first, for example with .float().",
        )
    if a.dtype is not b.dtype:
        raise errors.runtime_error(
            f"Expected object of scalar type {a.dtype.scalar_name} but got scalar type "
            f"{b.dtype.scalar_name} for second argument",
            "Both parts have one dtype.",
        )
    a.dtype.to_complex().numpy  # noqa: B018  raises where there is no complex type of that size


@require_tensors
def complex(real: Any, imag: Any, *, out: Out = None) -> Any:
    """The complex numbers with these real and imaginary parts.

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError where the dtypes differ.

    >>> torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([3.0, -4.0]))
    tensor([1.+3.j, 2.-4.j])
    """
    _check("complex", ("real", "imag"), real, imag)
    return finish("complex", join_parts(real, imag), out, real, imag)


@autocast
def polar(abs: Any, angle: Any, *, out: Out = None) -> Any:
    """The complex numbers with these absolute values and angles (in radians).

    `abs * (cos(angle) + i sin(angle))`

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError where the dtypes differ.

    >>> torch.polar(torch.tensor([1.0, 2.0]), torch.tensor([0.0, 3.1415927]))
    tensor([ 1.+0.0000e+00j, -2.-1.7485e-07j])
    """
    _check("polar", ("abs", "angle"), abs, angle)
    return finish("polar", join_polar(abs, angle), out, abs, angle)


__torch__ = "complex polar"
