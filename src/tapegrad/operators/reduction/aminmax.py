"""The smallest and the largest element at once: aminmax."""

from tapegrad import return_types
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Dim, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.operators.reduction.max_min import extremum, largest, smallest

__torch__ = "aminmax"


def _check_both(input: Tensor, dim: Dim, out: Out) -> None:
    for each in out or ():
        if each.dtype is not input.dtype:
            have, want = (errors.c_name(t.dtype) for t in (each, input))
            text = f"Expected out tensor to have dtype {want}, but got {have} instead"
            raise errors.runtime_error(text, f"Give out tensors of {input.dtype}.")
    if input._array.size:
        return
    if dim is None:
        raise errors.runtime_error(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity.",
            "The tensor is empty.",
        )
    axis = axis_of(dim, input._array.ndim)
    if not input._array.shape[axis]:
        text = f"aminmax: Expected reduction dim {axis} to have non-zero size."
        raise errors.index_error(text, "There is no element to choose.")


@require_tensors
def aminmax(input: Tensor, *, dim: Dim = None, keepdim: bool = False, out: Out = None) -> Any:
    """The smallest and the largest element, a pair (min, max).

    Shapes: both the input's without `dim` (by default all), with `keepdim` of size 1 there.

    >>> torch.aminmax(torch.tensor([1.0, 5.0, 3.0])).max
    tensor(5.)
    """
    _check_both(input, dim, out)
    pair = (
        extremum("aminmax", smallest, input, dim, keepdim),
        extremum("aminmax", largest, input, dim, keepdim),
    )
    return finish("aminmax", return_types.aminmax(pair), out, input)
