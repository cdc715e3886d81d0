"""Broadcasting, said aloud: the same memory seen many times."""

from math import prod

from tapegrad.arrays.kernel import fallback, kernel_of
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import countable, ints_of, listed
from tapegrad.core.size import Size
from tapegrad.dispatch.op import linear, vjp


@fallback("view_to")  # the kernel is for our NumPy namespace, whose `broadcast_to` may copy
def _view_to(xp, x, shape):
    return xp.broadcast_to(x, shape)


@vjp(x=lambda xp, g, x_like: sum_to_shape(xp, g, x_like.shape))
@linear(node="ExpandBackward0", view=True)
def expand_to(xp, x, *, shape):
    """The memory of `x` seen with `shape`: axes of size 1, and new ones in front, repeat it."""
    return kernel_of(xp, "view_to")(x, shape)


def expand(input: Tensor, *sizes: Shape, size: Shape | None = None, implicit: bool = False) -> Any:
    """Dimensions of size 1, and new ones in front, repeated without copying; -1 keeps a size.

    >>> torch.tensor([[1.0], [2.0]]).expand(-1, 3)
    tensor([[1., 1., 1.],
            [2., 2., 2.]])
    """
    have = input._array.shape
    if size is None:
        sizes = ints_of("expand", "size", sizes)
    else:
        sizes = listed("expand", "size", size)
    advice = "Give each dimension its size; those of size 1 can be repeated."
    errors.check_expand(have, sizes, advice, input.dtype)
    extra = len(sizes) - len(have)
    for i, n in reversed(list(enumerate(sizes[:extra]))):
        if n < 0:
            raise errors.runtime_error(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing "
                f"dimension {i}",
                "A new dimension needs a size.",
            )
    kept = [own if n == -1 else n for n, own in zip(sizes[extra:], have, strict=True)]
    shape = (*sizes[:extra], *kept)
    if not 0 < prod(shape) < 2**63:
        countable(shape)
    return expand_to(input, shape=shape)


@require_tensors
def expand_as(input: Any, other: Any) -> Any:
    """Repeated to the shape of `other`.

    >>> torch.tensor([1, 2]).expand_as(torch.zeros(2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, other.shape)


@require_tensors
def broadcast_to(input: Tensor, size: Shape) -> Any:
    """Dimensions of size 1, and new ones in front, repeated without copying.

    Shape: `size`, to which that of `input` broadcasts.
    Raises: RuntimeError where it does not broadcast.

    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, listed("broadcast_to", "size", size, 2))


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes have together.

    Shapes: any that broadcast, or single sizes.
    Raises: RuntimeError where they do not broadcast, or for a negative size.

    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    sizes = [tuple(s) if isinstance(s, (tuple, list)) else (s,) for s in shapes]
    found = [1] * max((len(s) for s in sizes), default=0)
    for k, shape in enumerate(sizes):
        for i in range(-1, -1 - len(shape), -1):
            n = shape[i]
            if n < 0:
                text = "Attempting to broadcast a dimension with negative length!"
                raise errors.value_error(text, "Sizes are not negative.")
            if n == 1 or n == found[i]:
                continue
            if found[i] != 1:
                given = shapes[k] if isinstance(shapes[k], (tuple, list)) else shape
                raise errors.runtime_error(
                    f"Attempting to broadcast a dimension of length {n} at {i}! Mismatching "
                    f"argument at index {k} had {given}; but expected shape should be "
                    f"broadcastable to {found}",
                    "Counted from the last, dimensions must be equal or 1.",
                )
            found[i] = n
    return Size(found)


@require_tensors
def broadcast_tensors(*tensors: Tensor) -> tuple:
    """Tensors repeated to their common shape, without copying.

    Shapes: any that broadcast; all results have the common one.
    Raises: RuntimeError where they do not broadcast.

    >>> a, b = torch.broadcast_tensors(torch.zeros(2, 1), torch.zeros(3))
    >>> a.shape, b.shape
    (torch.Size([2, 3]), torch.Size([2, 3]))
    """
    shape: tuple[int, ...] = ()
    for x in tensors:
        shape = _joined(shape, x._array.shape)
    return tuple([x if x._array.shape == shape else expand(x, shape) for x in tensors])


def _joined(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    if len(a) < len(b):
        a = (1,) * (len(b) - len(a)) + a
    elif len(b) < len(a):
        b = (1,) * (len(a) - len(b)) + b
    for m, n in zip(a, b, strict=True):
        if m != n and m != 1 and n != 1:
            raise errors.broadcast(a, b)
    return tuple([n if m == 1 else m for m, n in zip(a, b, strict=True)])


__all__ = ["broadcast_shapes", "broadcast_tensors", "broadcast_to"]
