"""Elements counted in row-major order: `take` reads them, `put` writes them."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import as_first, row_major
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart, in_place
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.indexing.index_check import check_index_dtype, check_range
from tapegrad.operators.shape.reshape_flatten_atleast import reshape


def take_flat_rule(xp, g, x_like, index):
    """Zeros in the shape of what was read from, with the cotangent added up at `index`."""
    return xp.reshape(xp.add_at(g, (x_like.size,), index, (0,)), x_like.shape)


@vjp(x=take_flat_rule)
@linear(node="TakeBackward0", hidden=("index",), kernels=("read_at", "add_at"), order=row_major)
def take_flat(xp, x, index):
    """The elements of `x`, in row-major order, at `index`."""
    return xp.read_at(xp.reshape(x, (-1,)), index, (0,))


def _unput(xp: Namespace, g: Array, index: Array, add: bool) -> Any:
    if add:
        return g
    zero = xp.zeros((), dtype=g.dtype)
    return xp.reshape(xp.write_at(xp.reshape(g, (-1,)), zero, index, (0,), False), g.shape)


@vjp(x=_unput, source=lambda xp, g, index: xp.read_at(xp.reshape(g, (-1,)), index, (0,)))
@linear(node="PutBackward0", hidden=("index",), kernels=("write_at", "read_at"), order=as_first)
def put_flat(xp, x, source, index, *, add):
    """`x` with `source` at `index`, counted in row-major order, or with it added there."""
    flat = xp.write_at(xp.reshape(x, (-1,)), source, index, (0,), add)
    return xp.reshape(flat, x.shape)


# --- public ---


@require_tensors
def take(input: Tensor, index: Tensor, *, out: Out = None) -> Any:
    """The elements at `index`, counted in row-major order.

    Shape: that of `index`.
    Raises: IndexError for an empty tensor.

    >>> torch.tensor([[1, 2], [3, 4]]).take(torch.tensor([0, 3]))
    tensor([1, 4])
    """
    errors.need_tensor("take", "index", 2, index)
    check_apart(out, input, index)
    kind = index.dtype.scalar_name
    check_index_dtype(index, f"take(): Expected a long tensor for index, but got {kind}")
    size = input._array.size
    if not size and index._array.size:
        text = "take(): tried to take from an empty tensor"
        raise errors.index_error(text, "It has no elements.")
    check_range(index, size, lambda wrong: out_of_range(wrong, size), -size)
    return finish("take", take_flat(input, index), out)


def out_of_range(wrong: int, size: int) -> IndexError:
    """An index outside all elements of a tensor."""
    return IndexError(
        f"out of range: tried to access index {wrong} on a tensor of {size} elements."
    )


@require_tensors
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    """The tensor with `source` at `index`, counted in row-major order, or with it added there.

    Shapes: any; index and source with as many elements; the result has the input's.
    Raises: RuntimeError where the dtypes differ; IndexError where the numbers of elements do.

    >>> torch.zeros(2, 2).put(torch.tensor([3]), torch.tensor([5.0]))
    tensor([[0., 0.],
            [0., 5.]])
    """
    kind = index.dtype.scalar_name
    check_index_dtype(index, f"put_(): Expected a long tensor for index, but got {kind}")
    if source._array.dtype != input._array.dtype:
        raise errors.runtime_error(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{input.dtype.scalar_name} and source.dtype = {source.dtype.scalar_name}",
            f"Convert the source with .to({input.dtype}).",
        )
    if source._array.size != index._array.size:
        raise errors.index_error(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source._array.size}, index.numel() = {index._array.size}",
            "One index for each element.",
        )
    size = input._array.size
    check_range(index, size, lambda wrong: out_of_range(wrong, size), -size)
    source = reshape(source, index._array.shape)
    return put_flat(input, source, index, add=accumulate)


put_ = in_place(put, apart=True)

__all__ = ["put", "take"]
