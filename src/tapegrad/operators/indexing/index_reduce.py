"""Slices of one dimension reduced together with others: `index_reduce`."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.tensor_base import wrap
from tapegrad.core.warn_once import warn_once
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import check_apart, in_place
from tapegrad.dispatch.op import linear, primitive
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.indexing import scatter_reduce
from tapegrad.operators.indexing.index_add import checked_slices

__torch__ = "index_reduce"


def _of_slices(scattering: Any, declare: Any, name: str) -> Any:
    """The operator `scattering` as PyTorch's graph calls it where whole slices are reduced."""
    op = scattering.op
    operator = declare(
        name=name, node="IndexReduceBackward0", hidden=("index",), kernels=op.kernels
    )(op.forward)
    operator.vjp(**{x: rule.function for x, rule in op.vjps.items()})
    operator.jvp(**{x: rule.function for x, rule in op.jvps.items()})
    return operator


reduce_extremum = _of_slices(scatter_reduce.scatter_extremum, primitive, "index_extremum")
reduce_product = _of_slices(scatter_reduce.scatter_product, primitive, "index_product")
reduce_total = _of_slices(scatter_reduce.scatter_total, linear, "index_total")


def _warn_of_beta() -> None:
    warn_once("index_reduce() is in beta and the API may change at any time.")


@require_tensors
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Out = None,
) -> Any:
    """Products, means or extrema of the slices of `source` that `index` sends to one slice.

    `reduce` is "prod", "mean", "amax" or "amin"; the slice itself counts, too, if `include_self`.

    Shapes: index (k,), source the input's with k at `dim`; the result has the input's.
    Raises: RuntimeError for another `reduce`.

    >>> index, source = torch.tensor([0, 0]), torch.tensor([3.0, 4.0])
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.ones(2).index_reduce(0, index, source, "amax")
    tensor([4., 1.])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise errors.runtime_error(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}.",
            "index_add() adds.",
        )
    _warn_of_beta()
    check_apart(out, index, source)
    axis = checked_slices("index_reduce", input, dim, index, source)
    if input.dtype.category == 0:
        raise no_kernel("index_func_", input.dtype)
    n = [index._array.size if i == axis else 1 for i in range(max(source._array.ndim, 1))]
    column = index._array.reshape(n) if source._array.ndim else index._array.reshape(())
    places = wrap(column).expand(source.shape)
    options = {"axis": axis, "include": bool(include_self)}
    if reduce == "prod":
        result = reduce_product(input, source, places, **options)
    elif reduce == "mean":
        result = reduce_total(input, source, places, mean=True, **options)
    else:
        result = reduce_extremum(input, source, places, how=reduce, **options)
    return finish("index_reduce", result, out, input)


index_reduce_ = in_place(index_reduce, apart=True)
