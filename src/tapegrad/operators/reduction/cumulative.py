"""Running sums, products and extrema along a dimension."""

from typing import Any

from tapegrad import return_types
from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.core import errors
from tapegrad.core.annotations import Array, Dim, DTypeLike, Namespace, OperatorLike, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import as_dtype, bool_
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import jvp, linear, primitive, vjp
from tapegrad.operators.dtype_check import no_kernel, require_order
from tapegrad.operators.reduction.sum_mean import summable
from tapegrad.operators.shape.reshape_flatten_atleast import copied

__torch__ = "cummax cummin cumprod cumprod_ cumsum cumsum_ diff logcumsumexp"


def _running_sum_vjp(xp: Namespace, g: Array, axis: int) -> Any:
    if not g.ndim:
        return g
    return xp.flip(xp.cumulative_sum(xp.flip(g, axis=axis), axis=axis), axis=axis)


# Of a tensor without dimensions, what runs along one is that tensor: a copy of it.


@vjp(x=_running_sum_vjp)
@linear(node="CumsumBackward0")
def running_sum(xp, x, *, axis):
    """The sums of the elements up to each place along `axis`."""
    if not x.ndim:
        return copied(xp, x, "C")
    return xp.cumulative_sum(x, axis=axis)


def _product_slopes(xp: Namespace, x: Array, axis: int) -> Any:
    """d y_j / d x_i of the running product y, axes i then j put first, right where x is 0.

    All of them, n * n for each row: for derivatives of derivatives. Kernels need n.
    """
    n = x.shape[axis]
    moved = xp.moveaxis(x, axis, 0)
    place = xp.cumulative_sum(xp.ones_like(moved, dtype=xp.int64), axis=0)
    row, column = xp.expand_dims(place, axis=1), xp.expand_dims(place, axis=0)
    copies = xp.broadcast_to(xp.expand_dims(moved, axis=0), (n, *moved.shape))
    without = xp.where(row == column, xp.ones_like(copies), copies)
    products = xp.cumulative_prod(without, axis=1)
    return xp.where(row <= column, products, xp.zeros_like(products))


@fallback("running_product_back")
def _running_product_back(xp, g, x, y, axis):
    slopes = _product_slopes(xp, x, axis)
    moved = xp.expand_dims(xp.moveaxis(g, axis, 0), axis=0)
    return xp.moveaxis(xp.sum(slopes * moved, axis=1), 0, axis)


@fallback("running_product_push")
def _running_product_push(xp, t, x, y, axis):
    slopes = _product_slopes(xp, x, axis)
    moved = xp.expand_dims(xp.moveaxis(t, axis, 0), axis=1)
    return xp.moveaxis(xp.sum(slopes * moved, axis=0), 0, axis)


def _running_product_vjp(xp: Namespace, g: Array, x: Array, y: Array, axis: int) -> Any:
    if not x.ndim or x.shape[axis] == 1:  # of infinity, too
        return g
    return kernel_of(xp, "running_product_back")(g, x, y, axis)


def _running_product_jvp(xp: Namespace, t: Array, x: Array, y: Array, axis: int) -> Any:
    if not x.ndim or x.shape[axis] == 1:
        return t
    return kernel_of(xp, "running_product_push")(t, x, y, axis)


@jvp(x=_running_product_jvp)
@vjp(x=_running_product_vjp)
@primitive(node="CumprodBackward0")
def running_product(xp, x, *, axis):
    """The products of the elements up to each place along `axis`."""
    return xp.cumulative_prod(x, axis=axis) if x.ndim else copied(xp, x, "C")


def _is_complex(xp, x):
    return xp.isdtype(x.dtype, "complex floating")


def _log_positive(xp, h):
    """log(h) where h is positive, or any complex number, and of next to nothing elsewhere."""
    if _is_complex(xp, h):
        return xp.where(h != 0, xp.log(xp.where(h != 0, h, 1)), -1e30)
    return xp.where(h > 0, xp.log(xp.where(h > 0, h, 1)), -1e30)


def _log_running_sum_vjp(xp, g, x, y, axis):
    # sum over j >= i of g_j exp(x_i - y_j), signs apart so that everything stays a logarithm
    def part(h):
        logs = _log_positive(xp, h)
        total = xp.flip(xp.log_running_sum(xp.flip(logs - y, axis=axis), axis), axis=axis)
        return xp.exp(total + x)

    if not x.ndim:
        return g
    return part(g) if _is_complex(xp, g) else part(g) - part(-g)


def _log_running_sum_jvp(xp, t, x, y, axis):
    def part(h):
        return xp.exp(xp.log_running_sum(_log_positive(xp, h) + x, axis) - y)

    if not x.ndim:
        return t
    return part(t) if _is_complex(xp, t) else part(t) - part(-t)


@jvp(x=_log_running_sum_jvp)
@vjp(x=_log_running_sum_vjp)
@primitive(node="LogcumsumexpBackward0", kernels=("log_running_sum",))
def log_running_sum(xp, x, *, axis):
    """log of the sums of exp(x) up to each place along `axis`, without overflow."""
    return xp.log_running_sum(x, axis) if x.ndim else copied(xp, x, "C")


_CHOICE = {"outputs": ("values", "indices"), "nondiff": ("indices",)}


@primitive(node="CummaxBackward0", kernels=("running_extremum", "add_along"), **_CHOICE)
def running_largest(xp, x, *, axis):
    """The largest element up to each place along `axis`, and where it is."""
    if not x.ndim:
        return copied(xp, x, "C"), xp.zeros_like(x, dtype=xp.int64)
    indices = xp.running_extremum(x, axis, True)
    return xp.take_along_axis(x, indices, axis=axis), indices


@primitive(node="CumminBackward0", kernels=("running_extremum", "add_along"), **_CHOICE)
def running_smallest(xp, x, *, axis):
    """The smallest element up to each place along `axis`, and where it is."""
    if not x.ndim:
        return copied(xp, x, "C"), xp.zeros_like(x, dtype=xp.int64)
    indices = xp.running_extremum(x, axis, False)
    return xp.take_along_axis(x, indices, axis=axis), indices


def _pick_rules(operator: OperatorLike) -> None:
    def back(xp: Namespace, g: Array, x_like: Array, indices: Array, axis: int) -> Any:
        return xp.add_along(g, x_like.shape, indices, axis) if x_like.ndim else g

    def push(xp: Namespace, t: Array, indices: Array, axis: int) -> Any:
        return xp.take_along_axis(t, indices, axis=axis) if t.ndim else t

    operator.vjp(x=back)
    operator.jvp(x=push)


_pick_rules(running_largest)
_pick_rules(running_smallest)


# --- the public functions ---


def _along(operator: OperatorLike, input: Tensor, dim: Dim) -> Any:
    return operator(input, axis=axis_of(dim, input._array.ndim))


def _running(
    name: str, operator: OperatorLike, input: Tensor, dim: Dim, dtype: DTypeLike, out: Out
) -> Any:
    """Running sums or products; integers as int64 unless a dtype is asked for."""
    if (getattr(out, "dtype", None) if dtype is None else dtype) is bool_:
        axis_of(dim, input._array.ndim)
        raise no_kernel(f"{name}_out_cpu", bool_)
    input, narrow = summable(input, dtype, out)
    result = _along(operator, input, dim)
    return finish(name, result if narrow is None else result.to(narrow), out, input)


@require_tensors
def cumsum(input: Tensor, dim: int, *, dtype: DTypeLike = None, out: Out = None) -> Any:
    """The sums of the elements up to each place along `dim`; float32 is summed in double precision.

    Shape: any, and that of the result.

    >>> torch.cumsum(torch.tensor([1.0, 2.0, 3.0]), 0)
    tensor([1., 3., 6.])
    """
    return _running("cumsum", running_sum, input, dim, dtype, out)


@require_tensors
def cumprod(input: Tensor, dim: int, *, dtype: DTypeLike = None, out: Out = None) -> Any:
    """The products of the elements up to each place along `dim`; float32 in double precision.

    Shape: any, and that of the result.

    >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), 0)
    tensor([1., 2., 6.])
    """
    return _running("cumprod", running_product, input, dim, dtype, out)


@require_tensors
def logcumsumexp(input: Tensor, dim: int, *, out: Out = None) -> Any:
    """log of the sums of exp(x) up to each place along `dim`, without overflow.

    `y[i] = log(exp(x[0]) + ... + exp(x[i]))`

    Shape: any, and that of the result.

    >>> torch.logcumsumexp(torch.tensor([0.0, 0.0]), 0)
    tensor([0.0000, 0.6931])
    """
    axis_of(dim, input._array.ndim)
    if input.dtype.category < 2:
        raise no_kernel("logcumsumexp_out_cpu", input.dtype)
    if out is not None and out.dtype is not input.dtype:
        wanted, given = input.dtype.scalar_name, out.dtype.scalar_name
        text = f"expected scalar_type {wanted} but found {given}"
        raise errors.runtime_error(text, "out has the dtype of the input.")
    return finish("logcumsumexp", _along(log_running_sum, input, dim), out, input)


def _check_dim(name: str, input: Tensor, dim: int) -> None:
    ndim = input._array.ndim
    if not ndim and dim not in (-1, 0):
        text = f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}"
        raise errors.index_error(text, "A tensor without dimensions counts as one of one.")
    axis_of(dim, ndim)


@require_tensors
def cummax(input: Tensor, dim: int, *, out: Out = None) -> Any:
    """The largest element up to each place along `dim`, a pair (values, indices).

    Shapes: both the input's.

    >>> torch.cummax(torch.tensor([1.0, 3.0, 2.0]), 0).values
    tensor([1., 3., 3.])
    """
    _check_dim("cummax", input, dim)
    require_order("cummax_cpu", input)
    pair = return_types.cummax(_along(running_largest, input, dim))
    return finish("cummax", pair, out)


@require_tensors
def cummin(input: Tensor, dim: int, *, out: Out = None) -> Any:
    """The smallest element up to each place along `dim`, a pair (values, indices).

    Shapes: both the input's.

    >>> torch.cummin(torch.tensor([3.0, 1.0, 2.0]), 0).values
    tensor([3., 1., 1.])
    """
    _check_dim("cummin", input, dim)
    require_order("cummin_cpu", input)
    pair = return_types.cummin(_along(running_smallest, input, dim))
    return finish("cummin", pair, out)


def _check_beside(input: Tensor, x: Tensor, axis: int) -> None:
    """Raise unless `x` fits before or behind a tensor along `axis`."""
    have, want = x._array.shape, input._array.shape
    if len(have) != len(want):
        raise errors.runtime_error(
            "diff expects prepend or append to be the same dimension as input",
            f"The input has {len(want)} dimensions, and this {len(have)}.",
        )
    for i, (m, n) in enumerate(zip(have, want, strict=True)):
        if i != axis and m != n:
            raise errors.runtime_error(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({i}) = {n}, but got "
                f"tensor.size({i}) = {m}",
                f"Dimension {axis} is the one along which it is put.",
            )


@require_tensors
def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Any = None,
    append: Any = None,
    *,
    out: Out = None,
) -> Any:
    """The n-th differences of neighbours along `dim`.

    `y[i] = x[i + 1] - x[i]`, n times over.

    Shape: the input's, with what is put before and behind it, less `n` along `dim`.
    Raises: RuntimeError for a 0-d tensor or a negative `n`.

    >>> torch.diff(torch.tensor([1.0, 4.0, 9.0]))
    tensor([3., 5.])
    """
    from tapegrad.operators.shape.cat_stack import cat

    if input._array.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = axis_of(dim, input._array.ndim)
    for x in (prepend, append):
        if x is not None:
            _check_beside(input, x, axis)
    parts = [x for x in (prepend, input, append) if x is not None]
    if n == 0:
        return finish("diff", input.clone(), out, input)
    x = parts[0] if len(parts) == 1 else cat(parts, axis)
    for _ in range(min(n, x._array.shape[axis])):
        size = x._array.shape[axis]
        later, earlier = x.narrow(axis, 1, size - 1), x.narrow(axis, 0, size - 1)
        x = later.logical_xor(earlier) if x.dtype.name == "bool" else later - earlier
    return finish("diff", x, out, input)


def _check_dtype(input: Tensor, dim: Dim, dtype: DTypeLike = None) -> None:
    if dtype is not None and as_dtype(dtype) is not input.dtype:
        raise errors.runtime_error(
            f"Bad in-place call: input tensor dtype {errors.c_name(input.dtype)} and output tensor "
            f"dtype {errors.c_name(as_dtype(dtype))} should match",
            "Leave dtype= away, or use the out-of-place form.",
        )


cumsum_, cumprod_ = in_place(cumsum, first=_check_dtype), in_place(cumprod, first=_check_dtype)
