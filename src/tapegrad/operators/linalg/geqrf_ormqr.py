"""Orthogonal matrices as products of Householder reflections: geqrf, orgqr, ormqr."""

from tapegrad import return_types
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import also_called
from tapegrad.core.shape import no_dimensions
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.dtype_check import check_real_graph
from tapegrad.operators.linalg import householder_product as _householder_product
from tapegrad.operators.linalg.matrix_check import check_kernel, check_tensors, finish_castable

__torch__ = "geqrf orgqr ormqr"

_PRODUCT, _ORMQR = "torch.linalg.householder_product", "torch.ormqr"


def _raise(text: str, advice: str) -> None:
    raise errors.runtime_error(text, advice)


def _check_vectors(name: str, x: Tensor, tau: Any) -> None:
    """A matrix (..., m, n) and tau (..., k)."""
    shape, sizes = x._array.shape, tau._array.shape
    if len(shape) < 2:
        text = f"{name}: input must have at least 2 dimensions."
        _raise(text, "It is the matrix that geqrf gives, with the vectors below its diagonal.")
    if not sizes:
        raise no_dimensions(-1, "tau has a number for each reflection.")


def _check_tau_batch(name: str, x: Tensor, tau: Any) -> None:
    shape, sizes = x._array.shape, tau._array.shape
    advice = f"tau must have the shape {[*shape[:-2], 'k']}."
    if len(sizes) != len(shape) - 1:
        _raise(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {len(sizes)} and input.ndim is equal to {len(shape)}",
            advice,
        )
    if sizes[:-1] != shape[:-2]:
        _raise(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(sizes[:-1])}",
            advice,
        )


@autocast(name="householder_product")
def linalg_householder_product(input: Tensor, tau: Any, *, out: Out = None) -> Any:
    """The first n columns of the product Q of reflections H_i = 1 - tau_i v_i v_i^H.

    Shapes: input (..., m, n), tau (..., k); result (..., m, n).

    Args:
        input: (..., m, n) with m >= n; v_i is below the diagonal of column i, with 1 on it.
        tau: (..., k) with k <= n.

    With what torch.geqrf gives it is the Q of a QR decomposition.

    >>> a, tau = torch.geqrf(torch.tensor([[3.0], [4.0]]))
    >>> torch.linalg.householder_product(a, tau).shape
    torch.Size([2, 1])
    """
    check_tensors("linalg_householder_product", input=input)
    _check_vectors(_PRODUCT, input, tau)
    shape, k = input._array.shape, tau._array.shape[-1]
    if shape[-2] < shape[-1]:
        text = f"{_PRODUCT}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        _raise(text, "An orthogonal matrix has no more columns than rows.")
    if shape[-1] < k:
        text = f"{_PRODUCT}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        _raise(text, "Each number of tau goes with a column.")
    _check_tau_batch(_PRODUCT, input, tau)
    if tau.dtype is not input.dtype:
        _raise(
            f"{_PRODUCT}: tau dtype {tau.dtype.scalar_name} does not match input dtype "
            f"{input.dtype.scalar_name}",
            f"Convert tau: .to({input.dtype}).",
        )
    check_kernel("orgqr_cpu", input)
    found = _householder_product.householder_product(input, tau)
    return finish_castable("linalg_householder_product", _PRODUCT, found, out)


orgqr = also_called("orgqr", linalg_householder_product)


@autocast
def geqrf(input: Tensor, *, out: Out = None) -> Any:
    """The QR decomposition of matrices (..., m, n) as LAPACK keeps it, a pair (a, tau).

    R is on and above the diagonal of a (..., m, n), and Q the product of the reflections with the
    vectors below it; see torch.linalg.householder_product and torch.linalg.qr.

    Shapes: (..., m, n) to (..., m, n) and (..., min(m, n)).

    >>> torch.geqrf(torch.tensor([[3.0], [4.0]])).a[0]
    tensor([-5.])
    """
    check_tensors("geqrf", input=input)
    check_real_graph("geqrf", input)
    if input._array.ndim < 2:
        text = "torch.geqrf: input must have at least 2 dimensions."
        _raise(text, "Give a matrix (m, n), or a batch of matrices (..., m, n).")
    check_kernel("geqrf_cpu", input)
    found = return_types.geqrf(_householder_product.reflections(input))
    return finish_castable("geqrf", "torch.geqrf", found, out, "a", "tau")


@autocast
def ormqr(
    input: Tensor,
    tau: Any,
    other: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Out = None,
) -> Any:
    """Q other, or other Q, with the product Q of reflections, or with its adjoint.

    Shape: that of `other`.

    Args:
        input: (..., m, n), tau: (..., k), what torch.geqrf gives; Q is (..., m, m).
        other: (..., m, p), or (..., p, m) where it is not `left`.

    >>> x = torch.tensor([[3.0], [4.0]])
    >>> a, tau = torch.geqrf(x)
    >>> torch.ormqr(a, tau, x, transpose=True)
    tensor([[-5.],
            [ 0.]])
    """
    check_tensors("ormqr", input=input)
    _check_vectors(_ORMQR, input, tau)
    _check_other(input, tau, other, -2 if left else -1)
    options = {"left": bool(left), "transpose": bool(transpose)}
    for name, x in (("tau", tau), ("other", other), ("result", out)):
        if x is not None and x.dtype is not input.dtype:
            _raise(
                f"{_ORMQR}: Expected input and {name} to have the same dtype, but input has dtype"
                f"{input.dtype.scalar_name} and {name} has dtype {x.dtype.scalar_name}",
                f"Convert it: .to({input.dtype}).",
            )
    check_kernel("ormqr_cpu", input)
    return finish("ormqr", _householder_product.reflected(input, tau, other, **options), out)


def _check_other(x: Tensor, tau: Any, other: Tensor, axis: int) -> None:
    shape, sizes = x._array.shape, other._array.shape
    if len(sizes) < 2:
        _raise(f"{_ORMQR}: other must have at least 2 dimensions.", "Give a matrix.")
    if sizes[axis] != shape[-2]:
        text = f"{_ORMQR}: other.shape[{axis}] must be equal to input.shape[-2]"
        _raise(text, f"Q has {shape[-2]} rows and columns.")
    if tau._array.shape[-1] != min(sizes[axis], shape[-1]):
        text = f"{_ORMQR}: tau.shape[-1] must be equal to min(other.shape[{axis}], input.shape[-1])"
        _raise(text, "Each column of input has its number of tau.")
    _check_tau_batch(_ORMQR, x, tau)
    if len(sizes) != len(shape):
        _raise(
            f"{_ORMQR}: Expected other to have the same number of dimensions as input, but got "
            f"other.ndim equal to {len(sizes)} and input.ndim is equal to {len(shape)}",
            "Batch dimensions do not broadcast: expand() them.",
        )
    if sizes[:-2] != shape[:-2]:
        _raise(
            f"{_ORMQR}: Expected batch dimensions of other to be equal to input.shape[:-2], but "
            f"got {list(sizes[:-2])}",
            "Batch dimensions do not broadcast: expand() them.",
        )
