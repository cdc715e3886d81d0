"""The forms of operators that PyTorch's layers call: further outputs, fewer checks."""

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_
from tapegrad.core.result_order import as_computed
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.nn.batch_group_norm import check_groups, group_standardize
from tapegrad.operators.nn.dropout import _noise
from tapegrad.operators.nn.layer_norm import real_argument
from tapegrad.operators.nn.pool_size import array_of
from tapegrad.operators.no_formula import in_graph
from tapegrad.operators.shape.split_chunk_unbind import split_with_sizes

__torch__ = "detach_copy native_dropout native_group_norm unsafe_split_with_sizes"


@vjp(x=lambda xp, g, mask, scale: g * xp.astype(mask, g.dtype, copy=False) * scale)
@linear(node="NativeDropoutBackward0", hidden=("mask",))
def drop_masked(xp, x, mask, *, scale):
    """`x` times `scale` where `mask` is true, else zero."""
    return x * xp.astype(mask, x.dtype, copy=False) * scale


@vjp(x=lambda xp, g, axis: xp.concat(g, axis=axis))
@linear(node="UnsafeSplitWithSizesBackward0", outputs="many", order=as_computed)
def split_by_sizes_untracked(xp, x, *, axis, sizes):
    """Parts of the given sizes along `axis` that do not count as views of it."""
    parts, start = [], 0
    before, behind = (slice(None),) * axis, (slice(None),) * (x.ndim - axis - 1)
    for size in sizes:
        parts.append(x[(*before, slice(start, start + size), *behind)])
        start += size
    return parts


@require_tensors
def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple:
    """`dropout`, and the mask of what is left: a pair.

    With `train=False` nothing is dropped, with None it is as with True.

    Shapes: both the input's.
    Raises: RuntimeError for a `p` that is no probability.

    >>> _ = torch.manual_seed(0)
    >>> torch.native_dropout(torch.ones(4), 0.5, True)
    (tensor([0., 0., 2., 0.]), tensor([False, False,  True, False]))
    """
    array_of("native_dropout", input)
    p = real_argument("native_dropout", "p", 2, p)
    if train is not False and not 0 <= p <= 1:
        text = f"bernoulli_ expects p to be in [0, 1], but got p={1 - p:g}"
        raise errors.runtime_error(text, "p is the probability that an element is dropped.")
    is_number = input.dtype.is_floating_point or input.dtype.is_complex
    if not is_number and train is False:
        return input.clone(), input.new_ones(input.shape, dtype=bool_)
    if not is_number:
        raise errors.runtime_error(
            f"result type Float can't be cast to the desired output type {input.dtype.scalar_name}",
            "Convert the input: .float().",
        )
    if input.dtype.is_complex and input.requires_grad and is_grad_enabled():
        raise errors.runtime_error(
            "native_dropout does not support automatic differentiation for outputs with complex "
            "dtype.",
            "Drop elements of torch.view_as_real(x).",
        )
    if train is False or p == 0:
        mask, scale = input.detach().new_ones(input.shape, dtype=bool_), 1.0
    elif p == 1:
        mask, scale = input.detach().new_zeros(input.shape, dtype=bool_), 0.0
    else:
        mask, scale = _noise(input.real if input.dtype.is_complex else input, p, False), 1 / (1 - p)
        mask = mask.bool()
    return drop_masked(input, mask, scale=scale), mask


@require_tensors
def native_group_norm(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple:
    """`group_norm`, the means and the reciprocal standard deviations: three tensors.

    Shapes: (N, C, ...), with `HxW` elements a channel; the moments (N, group), without derivative.

    >>> x = torch.tensor([[1.0, 3.0, 5.0, 5.0]])
    >>> _, mean, rstd = torch.native_group_norm(x, None, None, 1, 4, 1, 2, 0.0)
    >>> mean, rstd
    (tensor([[2., 5.]]), tensor([[1., inf]]))
    """
    check_groups(input, group, C, weight, bias)
    if input.numel() != N * C * HxW:
        raise errors.unmet("X.numel() == N * C * HxW", "The input has N * C * HxW elements.")
    shape = input.shape
    if tuple(shape[:2]) != (N, C):
        input = input.reshape(N, C, HxW)
    y, mean, variance = group_standardize(input, weight, bias, groups=group, eps=eps)
    y = y if y.shape == shape else y.reshape(shape)
    mean, scale = mean.reshape(N, group), (variance.reshape(N, group) + eps).rsqrt()
    if input.dtype.itemsize == 2 and (weight is None or weight.dtype is input.dtype):
        mean, scale = mean.to(input.dtype), scale.to(input.dtype)
    return y, mean, scale


@require_tensors
def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple:
    """`split_with_sizes`; what is written in place into a part has no place in others' history.

    Shapes: those of `split_with_sizes`.

    >>> torch.unsafe_split_with_sizes(torch.arange(5), [2, 3])
    (tensor([0, 1]), tensor([2, 3, 4]))
    """
    parts = split_with_sizes(input.detach(), split_sizes, dim)
    axis = axis_of(dim, input._array.ndim)
    sizes = tuple(part.shape[axis] for part in parts)
    return split_by_sizes_untracked(input, axis=axis, sizes=sizes)


@require_tensors
def detach_copy(input: Tensor) -> Any:
    """A copy of the tensor without its history, whose gradient does not exist.

    It requires grad where the tensor does, as in PyTorch; asking for a gradient raises.

    Shape: any, and that of the result.

    >>> torch.detach_copy(torch.ones(2, requires_grad=True))
    tensor([1., 1.], grad_fn=<NotImplemented>)
    """
    return in_graph("detach_copy", (input.detach().clone(),), input)[0]
