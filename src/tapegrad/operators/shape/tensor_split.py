"""One tensor divided into parts as equal as can be, or at given places."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import axis_of, ints_of
from tapegrad.operators.shape.slice_select_narrow import slice_axis


@require_tensors
def tensor_split(
    input: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    indices: Tensor | None = None,
    sections: Any = None,
) -> tuple:
    """Parts as equal as can be, or those between the given indices, along `dim`.

    Shapes: the input's, the size of `dim` shared out: the first parts have one more.
    Raises: RuntimeError for a 0-d tensor, or no sections.

    >>> torch.arange(5).tensor_split(3)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    where = indices_or_sections
    if where is None:
        where = sections if indices is None else indices
    if hasattr(where, "_array"):
        where = _plain_indices(where)
    ndim = input._array.ndim
    if not ndim:
        raise errors.runtime_error(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with "
            f"{ndim} dims",
            "Give it a dimension first: reshape(1).",
        )
    axis = axis_of(dim, ndim)
    n = input._array.shape[axis]
    if isinstance(where, int):
        if where <= 0:
            text = f"number of sections must be larger than 0, got {where}"
            raise errors.runtime_error(text, "Say into how many parts.")
        small, larger = divmod(n, where)
        ends = [i * small + min(i, larger) for i in range(1, where)]
    else:
        ends = list(ints_of("tensor_split", "indices", (where,), 2))
    found = []
    for start, stop in zip([0, *ends], [*ends, n], strict=True):
        start, stop, _ = slice(start, stop).indices(n)
        stop = max(start, stop)
        found.append(slice_axis(input, axis=axis, start=start, stop=stop, step=1))
    return tuple(found)


def _plain_indices(where: Any) -> Any:
    if where._array.dtype != "int64":
        raise errors.runtime_error(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{where.dtype.scalar_name}",
            "Convert it with .long().",
        )
    if where._array.ndim > 1:
        raise errors.runtime_error(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {where._array.ndim} dims",
            "Pass an int, or indices in one dimension.",
        )
    return where._array.tolist()


def _not_ints(name: str, input: Tensor, where: Any) -> TypeError:
    kind = errors.type_name(where)
    if isinstance(where, (tuple, list)):
        kind += " of [" + ", ".join(map(errors.type_name, where)) + "]"
    reason = (
        f"\n      didn't match because some of the arguments have invalid types: (Tensor, !{kind}!"
    )
    forms = tuple(f"{form}){reason}" for form in _SPLIT_FORMS)
    return errors.invalid_combination(name, (input, where), {}, forms)


_SPLIT_FORMS = ("Tensor input, int sections", "Tensor input, tuple of ints indices")


def _along(name: str, input: Tensor, where: Any, axis: int, least: int) -> tuple:
    """`hsplit`, `vsplit` and `dsplit`: equal parts only."""
    several = where if isinstance(where, (tuple, list)) else (where,)
    if not all(hasattr(n, "__index__") and not hasattr(n, "_array") for n in several):
        raise _not_ints(name, input, where)
    shape = input._array.shape
    if len(shape) < least:
        raise errors.runtime_error(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {len(shape)} dimensions!",
            "Give it a dimension first, with unsqueeze().",
        )
    if isinstance(where, int):
        n = shape[axis]
        if not where or n % where:
            raise errors.runtime_error(
                f"torch.{name} attempted to split along dimension {axis}, but the size of the "
                f"dimension {n} is not divisible by the split_size {where}!",
                "tensor_split() makes parts of nearly equal size.",
            )
    return tensor_split(input, where, axis)


@require_tensors
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple:
    """Parts next to each other: along dimension 1, of a vector along its only one.

    Shapes: (m, n, ...), n shared out among the parts; of a vector its size.

    >>> torch.hsplit(torch.arange(4).reshape(2, 2), 2)
    (tensor([[0],
            [2]]), tensor([[1],
            [3]]))
    """
    return _along("hsplit", input, indices_or_sections, 0 if input._array.ndim == 1 else 1, 1)


@require_tensors
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple:
    """Parts one below the other: along dimension 0.

    Shapes: (m, n, ...), m shared out among the parts.

    >>> torch.vsplit(torch.arange(4).reshape(2, 2), 2)
    (tensor([[0, 1]]), tensor([[2, 3]]))
    """
    return _along("vsplit", input, indices_or_sections, 0, 2)


@require_tensors
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple:
    """Parts one behind the other: along dimension 2.

    Shapes: (m, n, d, ...), d shared out among the parts.

    >>> [part.shape for part in torch.dsplit(torch.zeros(2, 2, 4), 2)]
    [torch.Size([2, 2, 2]), torch.Size([2, 2, 2])]
    """
    return _along("dsplit", input, indices_or_sections, 2, 3)


__torch__ = "dsplit hsplit tensor_split vsplit"
