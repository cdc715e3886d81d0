"""Places: the coordinates of flat indices, and a tensor summed to the shape it was spread from."""

from math import prod

from tapegrad.autograd.captured import refuse_captured
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Scalar, Shape, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.scalar import number_of
from tapegrad.core.shape import ints_of
from tapegrad.core.tensor_base import REFUSING
from tapegrad.operators.reduction.sum_mean import sum as total

__torch__ = "unravel_index"


@require_tensors
def unravel_index(indices: Tensor, shape: Shape) -> tuple:
    """The coordinates in an array of `shape` of elements counted row by row.

    Shapes: a tensor in that of `indices` for each dimension of `shape`.
    Raises: TypeError for indices that are no integers; RuntimeError where `shape` has no elements.

    >>> torch.unravel_index(torch.tensor([5, 7]), (3, 4))
    (tensor([1, 1]), tensor([1, 3]))
    """
    errors.need_tensor("unravel_index", "indices", 1, indices)
    if indices.dtype.category != 1:
        text = f"expected 'indices' to be integer dtype, but got {indices.dtype}"
        raise errors.type_error(text, "Convert them with .long().")
    sizes = _sizes(shape)
    if sizes and indices._array.size and 0 in sizes:
        raise errors.runtime_error("ZeroDivisionError", "The array has no elements.")
    found = []
    step = prod(sizes)
    for n in sizes:
        step = step // n if n else 0
        found.append(indices.div(step or 1, rounding_mode="floor") % (n or 1))
    return tuple(found)


def _sizes(shape: Shape) -> tuple:
    if isinstance(shape, int):
        return (shape,)
    if not isinstance(shape, (tuple, list, str)):
        kind = errors.type_name(shape)
        kind = "torch.Tensor" if kind == "Tensor" else kind
        text = f"expected 'shape' to be int or sequence of ints, but got <class '{kind}'>"
        raise errors.type_error(text, "Give the sizes of the array.")
    sizes: tuple[Any, ...] = tuple(shape)
    for n in sizes:
        if not isinstance(n, int):
            text = f"expected 'shape' sequence to only contain ints, but got {type(n)}"
            raise errors.type_error(text, "Give the sizes of the array.")
    if any(n < 0 for n in sizes):
        text = f"'shape' cannot have negative values, but got {sizes}"
        raise errors.value_error(text, "Sizes are not negative.")
    return sizes


@require_tensors
def sum_to_size(input: Tensor, *size: Shape) -> Any:
    """The tensor summed to a shape that broadcasts to its own: what expand() does, in reverse.

    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    shape = ints_of("sum_to_size", "size", size)
    have = input._array.shape
    extra = len(have) - len(shape)
    kept = have[extra:] if extra >= 0 else None
    if kept is None or any(m not in (1, n) for m, n in zip(shape, kept, strict=True)):
        text = f"size {{{list(shape)}}} is not expandable to size {{{list(have)}}}."
        advice = "Each size is the tensor's own or 1; leading dimensions may be left away."
        raise errors.runtime_error(text, advice)
    if not shape:
        return total(input)
    if shape == have:
        return input
    axes = [i for i, n in enumerate(have) if i < extra or (shape[i - extra] == 1 and n != 1)]
    result = total(input, axes, True) if axes else input
    return result.view(shape) if extra else result


@require_tensors
def fill_diagonal_(self: Any, fill_value: Scalar, wrap: bool = False) -> Any:
    """Write a number to the diagonal, of all dimensions; with `wrap` again after each square.

    >>> torch.zeros(2, 3).fill_diagonal_(5)
    tensor([[5., 0., 0.],
            [0., 5., 0.]])
    """
    if REFUSING[0]:
        refuse_captured("fill_diagonal_", self)
    value = number_of("fill_diagonal_", "fill_value", 1, fill_value)
    shape = self._array.shape
    problem = ""
    if len(shape) < 2:
        problem = "dimensions must larger than 1"
    elif len(shape) > 2 and len(set(shape)) > 1:
        problem = "all dimensions of input must be of equal length"
    if problem:
        raise errors.runtime_error(problem, "A diagonal needs two dimensions or more.")
    height, width = shape[0], shape[1]
    starts = range(0, height, width + 1) if wrap and len(shape) == 2 else (0,)
    for start in starts:
        part = self[start:] if start else self
        for _ in range(len(shape) - 1):
            part = part.diagonal(0, 0, -1 if part._array.ndim < len(shape) else 1)
        part.fill_(value)
    return self
