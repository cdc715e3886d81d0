"""A = P L U: a permutation, a lower and an upper triangular matrix.

Source of the derivatives: with M = L^-1 P^T dA U^-1 of a square matrix, dL = L (M below the
diagonal) and dU = (M on and above it) U; of others the first rows and columns are the square.
"""

from tapegrad import return_types
from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.arrays.namespaces import elements, namespace_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import column_major
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg.decomposition import transposed as _t
from tapegrad.operators.linalg.matrix_check import (
    check_kernel,
    check_tensors,
    finish_exact,
    zero_pivot,
)
from tapegrad.operators.linalg.removed import say_once

__torch__ = "lu lu_unpack"


def _parts(xp: Namespace, lu: Array) -> tuple:
    """L (m, k) with ones on the diagonal and U (k, n), from the packed factors."""
    m, n = lu.shape[-2:]
    k = min(m, n)
    lower = xp.tril(lu[..., :, :k], k=-1)
    return lower + xp.eye(m, k, dtype=lu.dtype), xp.triu(lu[..., :k, :], k=0)


def _by_lower(xp: Namespace, lower: Any, b: Array, turned: bool) -> Any:
    """L^-1 B, or L^-T B."""
    if turned:
        return xp.triangular_solution(_t(xp, lower), b, True, True, True)
    return xp.triangular_solution(lower, b, False, True, True)


def _by_upper(xp: Namespace, upper: bool, b: Array, turned: bool) -> Any:
    """B U^-1, or B U^-T."""
    if turned:
        return xp.triangular_solution(_t(xp, upper), b, False, False, False)
    return xp.triangular_solution(upper, b, True, False, False)


def _gradient(xp: Namespace, g_lower: Any, g_upper: Any, p: Any, lower: Any, upper: Any) -> Any:
    """The cotangent of A from those of L and U."""
    m, n = lower.shape[-2], upper.shape[-1]
    k = min(m, n)
    below = xp.matmul(_t(xp, lower[..., :k, :]), g_lower[..., :k, :])
    above = xp.matmul(g_upper[..., :, :k], _t(xp, upper[..., :, :k]))
    square, triangle = lower[..., :k, :], upper[..., :, :k]
    if m < n:
        below = below - xp.matmul(g_upper[..., :, k:], _t(xp, upper[..., :, k:]))
    elif m > n:
        above = above - xp.matmul(_t(xp, lower[..., k:, :]), g_lower[..., k:, :])
    core = _by_upper(xp, triangle, xp.tril(below, k=-1) + xp.triu(above, k=0), True)
    found = _by_lower(xp, square, core, True)
    if m < n:
        right = _by_lower(xp, square, g_upper[..., :, k:], True)
        found = xp.concat([found, right], axis=-1)
    elif m > n:
        rest = _by_upper(xp, triangle, g_lower[..., k:, :], True)
        found = xp.concat([found, rest], axis=-2)
    return xp.matmul(p, found)


def _tangents(xp: Namespace, t: Array, p: Any, lower: Any, upper: Any) -> tuple:
    """The tangents of L and U from that of A."""
    m, n = lower.shape[-2], upper.shape[-1]
    k = min(m, n)
    t = xp.matmul(_t(xp, p), t)
    square, triangle = lower[..., :k, :], upper[..., :, :k]
    core = _by_upper(xp, triangle, _by_lower(xp, square, t[..., :k, :k], False), False)
    below, above = xp.tril(core, k=-1), xp.triu(core, k=0)
    t_lower, t_upper = xp.matmul(square, below), xp.matmul(above, triangle)
    if m < n:
        right = _by_lower(xp, square, t[..., :, k:], False)
        right = right - xp.matmul(below, upper[..., :, k:])
        t_upper = xp.concat([t_upper, right], axis=-1)
    elif m > n:
        rest = _by_upper(xp, triangle, t[..., k:, :], False)
        rest = rest - xp.matmul(lower[..., k:, :], above)
        t_lower = xp.concat([t_lower, rest], axis=-2)
    return t_lower, t_upper


_KERNELS = ("lu_packed", "permutation_matrix", "triangular_solution")


def _packed_cotangents(xp: Namespace, g: Array) -> tuple:
    """The cotangents of L and U from that of the packed factors."""
    k = min(g.shape[-2:])
    return xp.tril(g[..., :, :k], k=-1), xp.triu(g[..., :k, :], k=0)


def _packed_vjp(xp, g, packed, pivots):
    p = xp.permutation_matrix(pivots, packed.shape[-2], packed)
    return _gradient(xp, *_packed_cotangents(xp, g), p, *_parts(xp, packed))


def _packed(xp: Namespace, lower: Any, upper: Any) -> Any:
    """A strictly lower (m, k) and an upper (k, n) triangular matrix in one, (m, n)."""
    m, n = lower.shape[-2], upper.shape[-1]
    batch = tuple(lower.shape[:-2])
    k = min(m, n)
    if m < n:
        zeros = xp.zeros((*batch, m, n - k), dtype=lower.dtype)
        lower = xp.concat([lower, zeros], axis=-1)
    elif m > n:
        zeros = xp.zeros((*batch, m - k, n), dtype=lower.dtype)
        upper = xp.concat([upper, zeros], axis=-2)
    return lower + upper


def _packed_jvp(xp, t, packed, pivots):
    p = xp.permutation_matrix(pivots, packed.shape[-2], packed)
    return _packed(xp, *_tangents(xp, t, p, *_parts(xp, packed)))


@jvp(a=_packed_jvp)
@vjp(a=_packed_vjp)
@primitive(
    node="LinalgLuFactorExBackward0",
    outputs=("packed", "pivots", "info"),
    nondiff=("pivots", "info"),
    kernels=_KERNELS,
    order=column_major(),
)
def packed_factors(xp, a):
    """L without its diagonal and U in one matrix, the swaps of rows, and a pivot that is zero."""
    return xp.lu_packed(a)


@jvp(a=lambda xp, t, P, L, U: (xp.zeros_like(P), *_tangents(xp, t, P, L, U)))
@vjp(a=lambda xp, g_L, g_U, P, L, U: _gradient(xp, g_L, g_U, P, L, U))
@primitive(node="LinalgLuBackward0", outputs=("P", "L", "U"), kernels=_KERNELS)
def three_factors(xp, a):
    """P, L and U. The permutation does not change with the matrix: its cotangent is not used."""
    packed, pivots, _ = xp.lu_packed(a)
    return xp.permutation_matrix(pivots, a.shape[-2], a), *_parts(xp, packed)


@jvp(packed=lambda xp, t, P: (xp.zeros_like(P), *_packed_cotangents(xp, t)))
@vjp(packed=lambda xp, g_L, g_U: _packed(xp, xp.tril(g_L, k=-1), xp.triu(g_U, k=0)))
@primitive(
    node="LuUnpackBackward0",
    outputs=("P", "L", "U"),
    hidden=("pivots",),
    kernels=("permutation_matrix",),
)
def unpacked(xp, packed, pivots):
    """P, L and U from the packed factors and the swaps of rows."""
    p = xp.permutation_matrix(pivots, packed.shape[-2], packed)
    return p, *_parts(xp, packed)


@tensor_kernel
def permutation_matrix(pivots: Any, n: int, like: Any) -> Any:
    """The kernel of that name for tensors: a constant."""
    xp = namespace_of((like._array,))
    return wrap(xp.permutation_matrix(pivots._array, n, like._array))


# --- the public functions ---


def _check(function: str, argument: str, name: str, a: Tensor, pivot: bool) -> None:
    check_tensors(function, **{argument: a})
    if a._array.ndim < 2:
        raise errors.runtime_error(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(a.shape)} instead",
            "The last two dimensions are rows and columns.",
        )
    if not pivot and (a._array.size or function == "linalg_lu"):
        check_kernel("lu_cpu", a)
        text = "linalg.lu_factor: LU without pivoting is not implemented on the CPU"
        raise errors.runtime_error(text, "Leave pivot=True.")
    check_kernel("lu_cpu", a)


@require_tensors
def linalg_lu(A: Tensor, *, pivot: bool = True, out: Out = None) -> Any:
    """The factors of A = P L U by elimination with swaps of rows.

    Shapes: A (..., m, n), with k = min(m, n): P (..., m, m), a permutation; L (..., m, k), lower
    triangular with ones on the diagonal; U (..., k, n), upper triangular.

    >>> P, L, U = torch.linalg.lu(torch.tensor([[1.0, 2.0], [2.0, 6.0]]))
    >>> U
    tensor([[ 2.,  6.],
            [ 0., -1.]])
    """
    _check("linalg_lu", "A", "linalg.lu", A, pivot)
    p, lower, upper = three_factors(A)
    return finish_exact("linalg_lu", return_types.linalg_lu((p.detach(), lower, upper)), out)


@require_tensors
def lu_factor(A: Tensor, *, pivot: bool = True, out: Out = None) -> Any:
    """The factors of A = P L U packed in one matrix, and the swaps of rows, from 1.

    Shapes: A (..., m, n) gives LU (..., m, n), with U on and above the diagonal and L below it, and
    pivots (..., min(m, n)). For `torch.linalg.lu_solve`.

    Raises: RuntimeError for a pivot that is zero.

    >>> torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [2.0, 6.0]])).LU
    tensor([[ 2.0000,  6.0000],
            [ 0.5000, -1.0000]])
    """
    _check("linalg_lu_factor", "A", "torch.lu_factor", A, pivot)
    packed, pivots, info = packed_factors(A)
    if elements(info._array).any():
        raise zero_pivot("torch.linalg.lu_factor", elements(info._array))
    return finish_exact("linalg_lu_factor", return_types.linalg_lu_factor((packed, pivots)), out)


@require_tensors
def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Out = None
) -> Any:
    """As `lu_factor`, and `info`: 0, or the number of the first pivot that is zero.

    Shapes: (..., m, n) to (..., m, n), (..., min(m, n)) and (...).

    >>> torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    _check("linalg_lu_factor_ex", "A", "torch.lu_factor", A, pivot)
    found = packed_factors(A)
    if check_errors and elements(found[2]._array).any():
        raise zero_pivot("torch.linalg.lu_factor_ex", found[2]._array)
    return finish_exact("linalg_lu_factor_ex", return_types.linalg_lu_factor_ex(found), out)


@overridable
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Out = None) -> Any:
    """The packed factors of A = P L U and the pivots; with get_infos=True also what failed.

    The older form of `torch.linalg.lu_factor_ex`.

    Shapes: (..., m, n) to (..., m, n) and (..., min(m, n)), and the infos (...).

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> packed, pivots = torch.lu(torch.tensor([[1.0, 2.0], [2.0, 6.0]]))
    >>> pivots
    tensor([2, 2], dtype=torch.int32)
    """
    say_once("lu")
    _check("_lu_with_info", "input", "torch.lu_factor", A, pivot)
    found = packed_factors(A)
    result = return_types._lu_with_info(found) if get_infos else found[:2]
    return finish("lu", result, out)


def lu_method(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple:
    """`torch.lu` as a method, which gives a plain tuple.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> packed, pivots = torch.tensor([[0.0, 2.0], [1.0, 0.0]]).lu()
    >>> packed
    tensor([[1., 0.],
            [0., 2.]])
    >>> pivots
    tensor([2, 2], dtype=torch.int32)
    """
    return tuple(lu(A, pivot, get_infos))


@require_tensors
def lu_unpack(
    LU_data: Any,
    LU_pivots: Any,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Out = None,
) -> Any:
    """P, L and U of A = P L U from the packed factors and the pivots that `lu_factor` gives.

    What is not to be unpacked is an empty tensor.

    Shapes: LU (..., m, n) to (..., m, m), (..., m, k) and (..., k, n), with k = min(m, n).
    Raises: RuntimeError for pivots of another dtype than int32, or out of range.

    >>> packed, pivots = torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [2.0, 6.0]]))
    >>> torch.lu_unpack(packed, pivots).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    check_tensors("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    if LU_data._array.ndim < 2:
        raise errors.runtime_error(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(LU_data.shape)} instead",
            "Pass what torch.linalg.lu_factor gave.",
        )
    if unpack_pivots and LU_pivots.dtype.name != "int32":
        raise errors.runtime_error(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 "
            "dtype.",
            "Pass the pivots that torch.linalg.lu_factor gave.",
        )
    swaps = elements(LU_pivots._array)
    if unpack_pivots and swaps.size and not 1 <= swaps.min() <= swaps.max() <= LU_data.shape[-2]:
        raise errors.runtime_error(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?",
            "They count rows from 1.",
        )
    nothing = LU_data.new_empty(0)
    if unpack_data:
        p, lower, upper = unpacked(LU_data, LU_pivots)
        p = p.detach() if unpack_pivots else nothing
    else:
        lower = upper = p = nothing
        if unpack_pivots:
            p = permutation_matrix(LU_pivots, LU_data.shape[-2], LU_data)
    return finish_exact("lu_unpack", return_types.lu_unpack((p, lower, upper)), out)
