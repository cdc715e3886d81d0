"""Indices and values of sparse tensors, which dense tensors refuse to name."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.family import family

__torch__ = (
    "ccol_indices_copy col_indices_copy crow_indices_copy indices_copy row_indices_copy values_copy"
)

_BY_ROWS, _BY_COLUMNS = "row compressed tensor", "column compressed tensor"


@family
def _part(name: str, layout: str, what: str) -> Callable:
    text = f"{name.removesuffix('_copy')} expected sparse {layout} layout but got Strided"

    def part(input: Tensor) -> Any:
        shape = list(input._array.shape)
        advice = f"A tensor of shape {shape} is dense here: nonzero() says where it is not zero."
        raise errors.runtime_error(text, advice)

    part.__name__ = part.__qualname__ = name
    example = (
        f"torch.{name}(torch.ones(3))" if name.endswith("_copy") else f"torch.ones(3).{name}()"
    )
    part.__doc__ = f"""{what}

    Raises: RuntimeError, as for every dense tensor.

    >>> {example}
    Traceback (most recent call last):
    RuntimeError: {text}
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """
    return require_tensors(part, name=name)


@_part("coalesce", "coordinate tensor", "A sparse tensor that names each element once.")
def coalesce(): ...


@_part("indices", "coordinate tensor", "The indices of the elements of a sparse tensor.")
def indices(): ...


@_part("indices_copy", "coordinate tensor", "A copy of what `indices` gives.")
def indices_copy(): ...


@_part("values", "tensor", "The values of the elements of a sparse tensor.")
def values(): ...


@_part("values_copy", "tensor", "A copy of what `values` gives.")
def values_copy(): ...


@_part("crow_indices", _BY_ROWS, "Where the rows of a tensor compressed by rows begin.")
def crow_indices(): ...


@_part("crow_indices_copy", _BY_ROWS, "A copy of what `crow_indices` gives.")
def crow_indices_copy(): ...


@_part("col_indices", _BY_ROWS, "The columns of the elements of a tensor compressed by rows.")
def col_indices(): ...


@_part("col_indices_copy", _BY_ROWS, "A copy of what `col_indices` gives.")
def col_indices_copy(): ...


@_part("ccol_indices", _BY_COLUMNS, "Where the columns of a tensor compressed by columns begin.")
def ccol_indices(): ...


@_part("ccol_indices_copy", _BY_COLUMNS, "A copy of what `ccol_indices` gives.")
def ccol_indices_copy(): ...


@_part("row_indices", _BY_COLUMNS, "The rows of the elements of a tensor compressed by columns.")
def row_indices(): ...


@_part("row_indices_copy", _BY_COLUMNS, "A copy of what `row_indices` gives.")
def row_indices_copy(): ...
