"""Products of several matrices, in the order that costs least."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Sequence, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.overridable import overridable
from tapegrad.dispatch.apply import finish
from tapegrad.operators.linalg.matmul_check import c_name
from tapegrad.operators.linalg.removed import say_once

__torch__ = "chain_matmul"


@require_tensors
def multi_dot(tensors: Sequence[Tensor], *, out: Out = None) -> Any:
    """The product of several matrices, in the order of multiplication that costs least.

    The first and the last may be vectors, a row and a column. Source of the order: Cormen et al.,
    Introduction to Algorithms, 15.2.

    Shapes: (n,) or (m, n), then matrices that fit, then (k, p) or (k,), to (m, p).

    >>> torch.linalg.multi_dot([torch.ones(2, 3), torch.ones(3, 4), torch.ones(4, 1)]).shape
    torch.Size([2, 1])
    """
    if not isinstance(tensors, (tuple, list)):
        raise errors.must_be("linalg_multi_dot", "tensors", 1, "tuple of Tensors", tensors)
    tensors = list(tensors)
    _check(tensors)
    shape = tensors[0]._array.shape[:-1] + tensors[-1]._array.shape[1:]
    if tensors[0].ndim == 1:
        tensors[0] = tensors[0].unsqueeze(0)
    if tensors[-1].ndim == 1:
        tensors[-1] = tensors[-1].unsqueeze(1)
    result = _chain(tensors, 0, len(tensors), _best_order(tensors))
    return finish("linalg_multi_dot", result.view(shape), out)


def _check(tensors: list) -> None:
    errors.need_sequence(tensors, "Pass a list of tensors.")
    n = len(tensors)
    if n < 2:
        text = f"multi_dot(): expected at least 2 tensors but got {n}"
        raise errors.runtime_error(text, "There is nothing to multiply.")
    first = tensors[0]
    for i, x in enumerate(tensors):
        end = "first" if i == 0 else "last" if i == n - 1 else ""
        if x.ndim != 2 and not (end and x.ndim == 1):
            which = f"the {end} tensor must be 1D or 2D" if end else f"tensor {i} must be 2D"
            text = f"multi_dot(): {which} but got {x.ndim}D"
            raise errors.runtime_error(text, "matmul() takes batches of matrices.")
        if x.dtype is not first.dtype:
            raise errors.runtime_error(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{c_name(first)} and tensor {i} {c_name(x)}",
                f"Convert it first: .to({first.dtype}).",
            )
    for i in range(n - 1):
        a, b = tensors[i]._array.shape, tensors[i + 1]._array.shape
        if a[-1] != b[0]:
            raise errors.runtime_error(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a)} and {list(b)} "
                "cannot be multiplied",
                f"The second must have {a[-1]} rows.",
            )


def _best_order(tensors: list) -> dict:
    """Where to split each chain."""
    sizes = [*(x.shape[0] for x in tensors), tensors[-1].shape[1]]
    n = len(tensors)
    cost = {(i, i + 1): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k, j] + sizes[i] * sizes[k] * sizes[j], k)
                for k in range(i + 1, j)
            )
    return split


def _chain(tensors: list, i: int, j: int, split: dict) -> Any:
    if j - i == 1:
        return tensors[i]
    k = split[i, j]
    return _chain(tensors, i, k, split).mm(_chain(tensors, k, j, split))


@overridable
def chain_matmul(*matrices: Any, out: Out = None) -> Any:
    """The product of several matrices: the older form of `torch.linalg.multi_dot`.

    Shapes: (m, n), (n, k), ..., (q, p) to (m, p).
    Raises: RuntimeError for no matrices, or what is none.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.chain_matmul(torch.ones(2, 3), torch.ones(3, 4)).shape
    torch.Size([2, 4])
    """
    say_once("chain_matmul")
    if not matrices:
        text = "chain_matmul(): Expected one or more matrices"
        raise errors.runtime_error(text, "Pass matrices.")
    errors.need_sequence(matrices, "Pass each matrix as an argument of its own.")
    for x in matrices:
        if x.ndim != 2:
            text = f"Tensor dimension is {x.ndim}, expected 2 instead."
            raise errors.runtime_error(text, "torch.linalg.multi_dot takes vectors at the ends.")
    if len(matrices) == 1:
        return finish("chain_matmul", matrices[0].clone(), out)
    return multi_dot(matrices, out=out)
