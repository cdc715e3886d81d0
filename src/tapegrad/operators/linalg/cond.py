"""The condition number of matrices."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.dtype import float64
from tapegrad.core.scalar import overflow
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.linalg.inv import inv_ex
from tapegrad.operators.linalg.matrix_check import check_tensors, finish_castable
from tapegrad.operators.linalg.matrix_norm import matrix_norm, plain_number

_INF = float("inf")


@autocast
def cond(A: Tensor, p: Any = None, *, out: Out = None) -> Any:
    """The condition number of matrices: |A| |A^-1| in the norm p of torch.linalg.matrix_norm.

    Without p, and for 2 and -2, from the singular values, also of matrices that are not square;
    inf for a singular matrix.

    Shape: (..., m, n) to (...); square for p but None, 2 and -2.
    Raises: RuntimeError for fewer than two dimensions.

    >>> torch.linalg.cond(torch.tensor([[2.0, 0.0], [0.0, 0.5]]))
    tensor(4.)
    """
    check_tensors("linalg_cond", input=A)
    p = plain_number(p)
    if not (p is None or isinstance(p, (int, float, complex, str))):
        raise errors.invalid_combination("linalg_cond", (A, p), {}, _COND_FORMS)
    if A._array.ndim < 2:
        text = "linalg.cond: The input tensor must have at least 2 dimensions."
        if isinstance(p, str):
            text = f"linalg.cond(ord={p}): The input tensor A must have at least 2 dimensions."
        advice = "Give a matrix (m, n), or a batch of matrices (..., m, n)."
        raise errors.runtime_error(text, advice)
    if isinstance(p, complex):
        raise overflow(float64, "The order of a norm is real.")
    if p is None or (not isinstance(p, str) and abs(p) == 2):
        found = _ratio_of_values(A, p is not None and p < 0)
    else:
        found = _product_of_norms(A, p)
    return finish_castable("linalg_cond", "linalg.cond", found, out)


_COND_FORMS = (
    "Tensor input, Number p = None, *, Tensor out = None",
    "Tensor input, str p, *, Tensor out = None",
)


def _ratio_of_values(x: Tensor, smallest_first: bool) -> Any:
    from tapegrad.operators.linalg.svd import svdvals

    if not x._array.size:
        return _zeros(x)
    values = svdvals(x)
    largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
    found = smallest / largest if smallest_first else largest / smallest
    return found.squeeze(-1)


def _product_of_norms(x: Tensor, p: Any) -> Any:
    known = ("fro", "nuc") if isinstance(p, str) else (1, -1, _INF, -_INF)
    if isinstance(p, str):
        _check_square(x, p)
    if p not in known:
        text = p if isinstance(p, str) else f"{float(p):g}"
        message = f"linalg.cond got an invalid norm type: {text}"
        raise errors.runtime_error(message, "Choose one of 'fro', 'nuc', 1, -1, 2, -2, inf, -inf.")
    if not x._array.size:
        return _zeros(x)
    _check_square(x, p)
    inverse, info = inv_ex(x)
    if p == "nuc":
        # a singular matrix has no inverse to decompose
        regular = (info == 0).unsqueeze(-1).unsqueeze(-1)
        inverse = inverse.where(regular, inverse.new_zeros(()))
        found = matrix_norm(x, "nuc") * matrix_norm(inverse, "nuc")
        return found.where(info == 0, found.new_full((), _INF))
    found = matrix_norm(x, p) * matrix_norm(inverse, p)
    return found.nan_to_num(_INF, _INF, -_INF)


def _check_square(x: Tensor, p: Any) -> None:
    m, n = x._array.shape[-2:]
    if m != n:
        text = p if isinstance(p, str) else f"{float(p):g}"
        raise errors.runtime_error(
            f"linalg.cond(ord={text}): A must be batches of square matrices, but they are {m} "
            f"by {n} matrices",
            "Only p=None, 2 and -2 take matrices that are not square.",
        )


def _zeros(x: Tensor) -> Any:
    """What PyTorch says of empty matrices."""
    real = x.real.dtype if x.dtype.is_complex else x.dtype
    return x.new_zeros(x._array.shape[:-2], dtype=real)
