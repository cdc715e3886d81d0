"""The k-th smallest element, and the most frequent one."""

from tapegrad import return_types
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import require_order
from tapegrad.operators.reduction.max_min import CHOICE, choice_rules, choose, refuse_empty

__torch__ = "kthvalue mode"


@primitive(node="KthvalueBackward0", kernels=("kth_index", "put_along"), **CHOICE)
def kth_along(xp, x, *, k, axis, keepdims):
    """The k-th smallest element along `axis`, and where it is."""
    return choose(xp, x, xp.kth_index(x, k - 1, axis), axis, keepdims)


@primitive(node="ModeBackward0", kernels=("mode_index", "put_along"), **CHOICE)
def mode_along(xp, x, *, axis, keepdims):
    """The most frequent element along `axis`, and where it last is."""
    return choose(xp, x, xp.mode_index(x, axis), axis, keepdims)


choice_rules(kth_along)
choice_rules(mode_along)


@require_tensors
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """The k-th smallest element along `dim`, a pair (values, indices).

    Shapes: both the input's without `dim`, with `keepdim` of size 1 there.
    Raises: RuntimeError where `k` is not from 1 to the size of `dim`.

    >>> torch.kthvalue(torch.tensor([3.0, 1.0, 2.0]), 2).values
    tensor(2.)
    """
    axis = axis_of(dim, input._array.ndim)
    refuse_empty("kthvalue", input, dim)
    require_order("kthvalue_cpu", input, bools=False)
    size = input._array.shape[axis] if input._array.ndim else 1
    if not 1 <= k <= size:
        text = f"kthvalue(): selected number k out of range for dimension {axis}"
        raise errors.runtime_error(text, f"It has {size} elements; k is {k}.")
    if out is not None:
        check_apart(out[0], input)
        check_apart(out[1], input)
    if input._array.ndim == 0:
        pair = kth_along(input.reshape(1), k=k, axis=0, keepdims=False)
    else:
        pair = kth_along(input, k=k, axis=axis, keepdims=bool(keepdim))
    return finish("kthvalue", return_types.kthvalue(pair), out)


@require_tensors
def mode(input: Tensor, dim: int = -1, keepdim: bool = False, *, out: Out = None) -> Any:
    """The most frequent element along `dim` (the smallest of several), a pair (values, indices).

    Shapes: both the input's without `dim`, with `keepdim` of size 1 there.

    >>> torch.mode(torch.tensor([2, 1, 2, 3])).values
    tensor(2)
    """
    axis = axis_of(dim, input._array.ndim)
    refuse_empty("mode", input, dim)
    require_order("mode_cpu", input)
    if input._array.ndim == 0:
        pair = mode_along(input.reshape(1), axis=0, keepdims=False)
    else:
        pair = mode_along(input, axis=axis, keepdims=bool(keepdim))
    return finish("mode", return_types.mode(pair), out, input)
