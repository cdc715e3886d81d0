"""Inner and outer products of vectors."""

from math import prod

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import also_called, require_tensors
from tapegrad.dispatch.apply import finish
from tapegrad.operators.linalg.dot_vdot import dot
from tapegrad.operators.linalg.matmul import mm

__all__ = ["ger", "inner", "outer"]


@require_tensors
def outer(input: Tensor, vec2: Any, *, out: Out = None) -> Any:
    """The products of all pairs of two vectors' elements.

    `y[i, j] = input[i] * vec2[j]`

    Shapes: (n,) and (m,) to (n, m).
    Raises: RuntimeError for what is no vector.

    >>> torch.outer(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    for name, x in (("self", input), ("vec2", vec2)):
        if x._array.ndim != 1:
            text = f"outer: Expected 1-D argument {name}, but got {x._array.ndim}-D"
            raise errors.runtime_error(text, "Flatten it first.")
    return finish("outer", input.unsqueeze(1) * vec2, out, input, vec2)


@require_tensors
def inner(input: Tensor, other: Tensor, *, out: Out = None) -> Any:
    """The sums of products along the last dimension of both tensors.

    Shapes: (*a, k) and (*b, k) to (*a, *b).
    Raises: RuntimeError where the last sizes differ.

    >>> torch.inner(torch.ones(2, 3), torch.ones(4, 3)).shape
    torch.Size([2, 4])
    """
    x, y = input._array, other._array
    if x.ndim == 0 or y.ndim == 0:
        return finish("inner", input * other, out, input, other)
    if x.shape[-1] != y.shape[-1]:
        raise errors.runtime_error(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(x.shape)} and {list(y.shape)}",
            "Transpose one of them, or use matmul().",
        )
    if x.dtype != y.dtype:
        advice = f"Convert one of them: .to({input.dtype})."
        raise errors.runtime_error("both inputs should have same dtype", advice)
    shape = x.shape[:-1] + y.shape[:-1]
    if prod(shape) == 1:
        return finish("inner", dot(input.reshape(-1), other.reshape(-1)).view(shape), out)
    k = x.shape[-1]
    left, right = (t.reshape(prod(t._array.shape[:-1]), k) for t in (input, other))
    rows = mm(left, right.t())
    return finish("inner", rows.reshape(shape), out, input, other)


ger = also_called("ger", outer)
