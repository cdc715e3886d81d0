"""The distances of all pairs of vectors: of two sets, or within one."""

from math import inf

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.scalar import float_of
from tapegrad.core.shape import broadcast
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.linalg.matmul_check import dtype_mismatch

__torch__ = "cdist pdist"

_KERNELS = ("pair_distances", "pull_distances", "push_distances")


@primitive(promote="arith", node="CdistBackward0", kernels=_KERNELS)
def all_distances(xp, a, b, *, order):
    """The distances of all rows of a (..., P, M) from those of b (..., R, M): (..., P, R)."""
    return xp.pair_distances(a, b, order)


def _flipped(
    xp: Namespace, kernel: Any, x: Array, a: Array, b: Array, y: Array, order: float
) -> Any:
    """A rule of `a` applied to `b`: the distances are the transposed ones."""
    return kernel(x, b, a, xp.matrix_transpose(y), order)


all_distances.vjp(
    a=lambda xp, g, a, b, y, order: xp.pull_distances(g, a, b, y, order),
    b=lambda xp, g, a, b, y, order: _flipped(
        xp, xp.pull_distances, xp.matrix_transpose(g), a, b, y, order
    ),
)
all_distances.jvp(
    a=lambda xp, t, a, b, y, order: xp.push_distances(t, a, b, y, order),
    b=lambda xp, t, a, b, y, order: xp.matrix_transpose(
        _flipped(xp, xp.push_distances, t, a, b, y, order)
    ),
)


@primitive(node="EuclideanDistBackward0")
def euclidean_distances(xp, a, b):
    """The same of order 2 through a product of matrices: |a|^2 + |b|^2 - 2 a.b under the root.

    Faster for many vectors; differences much shorter than the vectors lose digits.
    """
    squares = xp.sum(a * a, axis=-1, keepdims=True) - 2 * xp.matmul(a, xp.matrix_transpose(b))
    squares = squares + xp.expand_dims(xp.sum(b * b, axis=-1), axis=-2)
    return xp.sqrt(xp.maximum(squares, 0))


def _ratio(xp: Namespace, g: Array, y: Array) -> Any:
    return xp.where(y == 0, xp.zeros_like(y), g / xp.where(y == 0, xp.ones_like(y), y))


def _euclidean_pull(xp, g, a, b, y):
    """The sum of g (a - b) / y over the rows of b."""
    ratio = _ratio(xp, g, y)
    return a * xp.sum(ratio, axis=-1, keepdims=True) - xp.matmul(ratio, b)


def _euclidean_push(xp, t, a, b, y):
    along = xp.sum(t * a, axis=-1, keepdims=True) - xp.matmul(t, xp.matrix_transpose(b))
    return _ratio(xp, along, y)


euclidean_distances.vjp(
    a=_euclidean_pull,
    b=lambda xp, g, a, b, y: _euclidean_pull(
        xp, xp.matrix_transpose(g), b, a, xp.matrix_transpose(y)
    ),
)
euclidean_distances.jvp(
    a=_euclidean_push,
    b=lambda xp, t, a, b, y: xp.matrix_transpose(
        _euclidean_push(xp, t, b, a, xp.matrix_transpose(y))
    ),
)


def _above(xp: Namespace, n: int) -> Any:
    """Rows and columns of an n x n matrix above its diagonal: (2, n (n - 1) / 2)."""
    return xp.stack(xp.nonzero(xp.triu(xp.ones((n, n)), k=1)))


def _symmetric(xp: Namespace, v: Array, n: int) -> Any:
    """The symmetric matrix that has v above the diagonal."""
    above = xp.add_at(v, (n, n), _above(xp, n), (0, 1))
    return above + xp.matrix_transpose(above)


def _own_pull(xp, g, x, y, order):
    n = x.shape[0]
    return xp.pull_distances(_symmetric(xp, g, n), x, x, _symmetric(xp, y, n), order)


def _own_push(xp, t, x, y, order):
    pushed = xp.push_distances(t, x, x, _symmetric(xp, y, x.shape[0]), order)
    return xp.read_at(pushed + xp.matrix_transpose(pushed), _above(xp, x.shape[0]), (0, 1))


@jvp(x=_own_push)
@vjp(x=_own_pull)
@primitive(node="PdistBackward0", kernels=(*_KERNELS, "read_at", "add_at"))
def own_distances(xp, x, *, order):
    """The distances of each row of one matrix from the rows below it."""
    return xp.read_at(xp.pair_distances(x, x, order), _above(xp, x.shape[0]), (0, 1))


# --- the Tensor namespace: rules that are themselves differentiated ---


@tensor_kernel
def pair_distances(a: Tensor, b: Tensor, order: float) -> Any:
    return all_distances(a, b, order=order)


def _slopes(a: Tensor, b: Tensor, y: Tensor, order: float) -> Any:
    """The derivatives of y by a - b, as `arrays.pair.pair_slopes` has them: (..., P, R, M)."""
    xp = TENSOR_NAMESPACE()
    d = xp.expand_dims(a, axis=-2) - xp.expand_dims(b, axis=-3)
    y = xp.expand_dims(y, axis=-1)
    if order == 0:
        return d * 0
    if order == 1:
        return xp.sign(d)
    if order == inf:
        return xp.where(xp.abs(d) == y, xp.sign(d), 0.0)
    steep = xp.where(y == 0, 1.0, y)
    if order == 2:
        return d / steep
    flat = xp.logical_or(y == 0, d == 0) if order < 2 else y == 0
    size = xp.abs(xp.where(flat, 1.0, d))
    return xp.where(flat, 0.0, xp.sign(d) * (size / steep) ** (order - 1))


@tensor_kernel
def pull_distances(g: Array, a: Array, b: Array, y: Array, order: float) -> Any:
    return (g.unsqueeze(-1) * _slopes(a, b, y, order)).sum(-2)


@tensor_kernel
def push_distances(t: Array, a: Array, b: Array, y: Array, order: float) -> Any:
    return (t.unsqueeze(-2) * _slopes(a, b, y, order)).sum(-1)


# --- public ---

_MODES = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)
_MANY = 25  # rows: with more, a product of matrices is used


def _order(name: str, p: float) -> float:
    p = float_of(name, "p", 3 if name == "cdist" else 2, p)
    if not p >= 0:
        text = f"{name} only supports non-negative p values"
        raise errors.runtime_error(text, "Orders are 0 or more; float('inf') is one, too.")
    return p


@autocast
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Any:
    """The distances of order p of all vectors of x1 and x2.

    `sum(|x1_i - x2_j|^p)^(1/p)`, the largest for p = inf, the number of differing elements for
    p = 0. For p = 2 and more than 25 vectors it is computed by a product of matrices, which is
    fast but less accurate where vectors are close; compute_mode="donot_use_mm_for_euclid_dist"
    avoids that, and "use_mm_for_euclid_dist" asks for it.

    Shapes: x1 (..., P, M) and x2 (..., R, M); result (..., P, R).
    Raises: ValueError for another `compute_mode`.

    >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [1.0, 0.0]]))
    tensor([[5., 1.]])
    """
    if compute_mode not in _MODES:
        text = f"{compute_mode} is not a valid value for compute_mode"
        raise errors.value_error(text, f"Use one of {', '.join(map(repr, _MODES))}.")
    order = _order("cdist", p)
    _check_vectors(x1, x2)
    many = x1._array.shape[-2] > _MANY or x2._array.shape[-2] > _MANY
    by_product = compute_mode == _MODES[1] or (compute_mode == _MODES[0] and many)
    if order != 2 or not by_product or 0 in (*x1._array.shape, *x2._array.shape):
        if x1.dtype.itemsize == 2:
            raise no_kernel("cdist", x1.dtype)
        return all_distances(x1, x2, order=order)
    batch = broadcast(x1._array.shape[:-2], x2._array.shape[:-2])
    shape = (*batch, x1._array.shape[-2], x2._array.shape[-2])
    y = euclidean_distances(_matrices(x1, batch), _matrices(x2, batch))
    return y.view(shape)


def _matrices(x: Tensor, batch: tuple[int, ...]) -> Any:
    """(*batch, n, m) as (B, n, m); a matrix without batch as it is."""
    if not batch:
        return x
    shape = x._array.shape[-2:]
    return x.expand(*batch, *shape).contiguous().view(-1, *shape)


def _check_vectors(x1: Tensor, x2: Tensor) -> None:
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.ndim < 2:
            text = f"cdist only supports at least 2D tensors, {name} got: {x._array.ndim}D"
            raise errors.runtime_error(text, "One vector is a matrix with one row: x.unsqueeze(0).")
    first, second = x1._array.shape, x2._array.shape
    if first[-1] != second[-1]:
        raise errors.runtime_error(
            f"X1 and X2 must have the same number of columns. X1: {first[-1]} X2: {second[-1]}",
            f"Shapes are {list(first)} and {list(second)}: vectors lie along the last dimension.",
        )
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.dtype.is_floating_point:
            text = f"cdist only supports floating-point dtypes, {name} got: {x.dtype.scalar_name}"
            raise errors.runtime_error(text, "Convert it first: .float().")
    if x1.dtype is not x2.dtype:
        raise dtype_mismatch(x1, x2)
    broadcast(first[:-2], second[:-2])


@require_tensors
def pdist(input: Tensor, p: float = 2) -> Any:
    """The distances of order p of all pairs of different rows of a matrix.

    The pairs are (0, 1), (0, 2), ..., (1, 2), ...: the upper triangle of cdist(input, input).

    Shape: (N, M) to (N (N - 1) / 2,).
    Raises: RuntimeError for what is no matrix, or integers.

    >>> torch.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    if input._array.ndim != 2:
        text = f"pdist only supports 2D tensors, got: {input._array.ndim}D"
        raise errors.runtime_error(text, "Each row of a matrix is a vector.")
    if not input.dtype.is_floating_point:
        text = "pdist only supports floating-point dtypes"
        raise errors.runtime_error(text, "Convert it: .float().")
    if input.dtype.itemsize == 2:
        raise no_kernel("pdist", input.dtype)
    return own_distances(input, order=_order("pdist", p))
