"""Gamma and Dirichlet numbers, which are differentiable functions of their parameters."""

import numpy as np

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Source, Tensor
from tapegrad.core.streams.gamma import standard_gamma
from tapegrad.core.streams.rounding import cast
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import no_derivative
from tapegrad.operators.random.argument import not_implemented, stream_of
from tapegrad.operators.random.fill import of_tensors

__torch__ = "_dirichlet_grad _sample_dirichlet _standard_gamma _standard_gamma_grad"


def _unknown(g: Array) -> Any:
    raise errors.not_implemented(
        "the derivative for '_standard_gamma_grad' is not implemented.",
        "Samples have a first derivative only: detach() the gradient.",
    )


_refuse_grad = no_derivative("_dirichlet_grad", "detach() the tensors.")


@primitive(
    name="_standard_gamma_grad",
    node="StandardGammaGradBackward0",
    kernels=("standard_gamma_slope",),
)
def gamma_slope(xp, input, output):
    """dx/da of gamma numbers x = output of the shapes a = input."""
    return xp.standard_gamma_slope(input, output)


gamma_slope.vjp(input=_unknown, output=_unknown)


@primitive(name="_dirichlet_grad", node="NotImplemented", kernels=("dirichlet_slope",))
def dirichlet_slope(xp, x, alpha, total):
    """dx/dalpha over 1 - x of beta numbers x of the parameters alpha and total - alpha."""
    return xp.dirichlet_slope(x, alpha, total)


dirichlet_slope.vjp(x=_refuse_grad, alpha=_refuse_grad, total=_refuse_grad)


@primitive(name="_standard_gamma", node="StandardGammaBackward0")
def standard_gamma_draw(xp, input, *, drawn):
    """The array `drawn`, of these shapes."""
    return xp.asarray(drawn)


standard_gamma_draw.vjp(input=lambda xp, g, input, y: g * xp.standard_gamma_slope(input, y))


@primitive(name="_sample_dirichlet", node="NotImplemented")
def dirichlet_draw(xp, input, *, drawn):
    """The array `drawn`, of these concentrations."""
    return xp.asarray(drawn)


dirichlet_draw.vjp(input=no_derivative("_sample_dirichlet", "Use distributions.Dirichlet."))


@tensor_kernel
def standard_gamma_slope(a: Tensor, x: Any) -> Any:
    """The slope of gamma numbers in the Tensor namespace, where it has no derivative."""
    return gamma_slope(a, x)


# --- public names ---------------------------------------------------------------------------------


def _real(kernel: str, dtype: Any) -> None:
    if not dtype.is_floating_point or dtype.itemsize < 4:
        raise not_implemented(kernel, dtype)


@of_tensors
def _standard_gamma(input: Tensor, generator: Source = None) -> Any:
    """Gamma numbers of the shapes `input` and rate 1, with gradients with respect to the shapes.

    Raises: NotImplementedError for other dtypes than float32 and float64.

    >>> _ = torch.manual_seed(0)
    >>> torch._standard_gamma(torch.tensor([1.0, 2.0]))
    tensor([2.8824, 1.3158])
    """
    errors.need_tensor("_standard_gamma", "input", 1, input)
    stream, dtype = stream_of("_standard_gamma", generator), input.dtype
    _real("gamma_cpu", dtype)
    tiny = np.finfo(dtype.numpy).tiny
    drawn = np.fmax(cast(standard_gamma(stream, input._array), dtype.numpy), tiny)
    return standard_gamma_draw(input, drawn=drawn)


@of_tensors
def _sample_dirichlet(input: Tensor, generator: Source = None) -> Any:
    """Points of the simplex of the concentrations `input` (*, K): gamma numbers over their sum.

    Raises: NotImplementedError for other dtypes than float32 and float64.

    >>> _ = torch.manual_seed(0)
    >>> torch._sample_dirichlet(torch.tensor([1.0, 2.0]))
    tensor([0.6866, 0.3134])
    """
    errors.need_tensor("_sample_dirichlet", "input", 1, input)
    stream, dtype = stream_of("_sample_dirichlet", generator), input.dtype
    _real("dirichlet", dtype)
    limits = np.finfo(dtype.numpy)
    drawn = np.fmax(standard_gamma(stream, input._array), np.finfo(np.float64).tiny)
    drawn = drawn / drawn.sum(axis=-1, keepdims=True) if drawn.ndim else drawn / drawn
    drawn = np.clip(cast(drawn, dtype.numpy), limits.tiny, np.nextafter(limits.dtype.type(1), 0))
    return dirichlet_draw(input, drawn=drawn)


def _standard_gamma_grad(input: Tensor, output: Any) -> Any:
    """How gamma numbers `output` of the shapes `input` move with these, at a fixed probability.

    Raises: NotImplementedError for other dtypes than float32 and float64.

    >>> torch._standard_gamma_grad(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]))
    tensor([1.1736, 1.0862])
    """
    errors.need_tensors("_standard_gamma_grad", input=input, output=output)
    _real("_standard_gamma_grad_cpu", input.dtype)
    _same_dtype(input, output)
    return gamma_slope(input, output)


def _dirichlet_grad(x: Tensor, alpha: Any, total: Any) -> Any:
    """How Dirichlet numbers move: the slope of the beta number x in alpha, over 1 - x.

    Args:
        x: of the beta distribution of the parameters alpha and total - alpha.

    Raises: NotImplementedError for other dtypes than float32 and float64.

    >>> torch._dirichlet_grad(torch.tensor(0.5), torch.tensor(1.0), torch.tensor(2.0))
    tensor(0.6931)
    """
    errors.need_tensors("_dirichlet_grad", x=x, alpha=alpha, total=total)
    _same_dtype(x, alpha)
    _same_dtype(x, total)
    _real("_dirichlet_grad_cpu", x.dtype)
    return dirichlet_slope(x, alpha, total)


def _same_dtype(x: Any, y: Any) -> None:
    if y.dtype is not x.dtype:
        text = f"Found dtype {y.dtype.scalar_name} but expected {x.dtype.scalar_name}"
        raise errors.runtime_error(text, f"Convert it: .to({x.dtype}).")
