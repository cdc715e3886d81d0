"""Indices and values of sparse tensors, which dense tensors, the only ones here, refuse to name."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.family import family

__torch__ = (
    "ccol_indices_copy col_indices_copy crow_indices_copy indices_copy row_indices_copy values_copy"
)


@family
def _part(name: str, layout: str) -> Callable:
    def part(input: Tensor) -> Any:
        shape = input._array.shape
        raise errors.runtime_error(
            f"{name.removesuffix('_copy')} expected sparse {layout} layout but got Strided",
            f"A tensor of shape {list(shape)} is dense here: nonzero() says where it is not zero.",
        )

    part.__name__ = part.__qualname__ = name
    return require_tensors(part, name=name)


@_part("coalesce", "coordinate tensor")
def coalesce():
    """A sparse tensor that names each element once.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ones(3).coalesce()
    Traceback (most recent call last):
    RuntimeError: coalesce expected sparse coordinate tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("indices", "coordinate tensor")
def indices():
    """The indices of the elements of a sparse tensor.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ones(3).indices()
    Traceback (most recent call last):
    RuntimeError: indices expected sparse coordinate tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("indices_copy", "coordinate tensor")
def indices_copy():
    """A copy of what `indices` gives.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.indices_copy(torch.ones(3))
    Traceback (most recent call last):
    RuntimeError: indices expected sparse coordinate tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("values", "tensor")
def values():
    """The values of the elements of a sparse tensor.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ones(3).values()
    Traceback (most recent call last):
    RuntimeError: values expected sparse tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("values_copy", "tensor")
def values_copy():
    """A copy of what `values` gives.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.values_copy(torch.ones(3))
    Traceback (most recent call last):
    RuntimeError: values expected sparse tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("crow_indices", "row compressed tensor")
def crow_indices():
    """Where the rows of a tensor compressed by rows begin.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ones(3).crow_indices()
    Traceback (most recent call last):
    RuntimeError: crow_indices expected sparse row compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("crow_indices_copy", "row compressed tensor")
def crow_indices_copy():
    """A copy of what `crow_indices` gives.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.crow_indices_copy(torch.ones(3))
    Traceback (most recent call last):
    RuntimeError: crow_indices expected sparse row compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("col_indices", "row compressed tensor")
def col_indices():
    """The columns of the elements of a tensor compressed by rows.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ones(3).col_indices()
    Traceback (most recent call last):
    RuntimeError: col_indices expected sparse row compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("col_indices_copy", "row compressed tensor")
def col_indices_copy():
    """A copy of what `col_indices` gives.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.col_indices_copy(torch.ones(3))
    Traceback (most recent call last):
    RuntimeError: col_indices expected sparse row compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("ccol_indices", "column compressed tensor")
def ccol_indices():
    """Where the columns of a tensor compressed by columns begin.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ones(3).ccol_indices()
    Traceback (most recent call last):
    RuntimeError: ccol_indices expected sparse column compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("ccol_indices_copy", "column compressed tensor")
def ccol_indices_copy():
    """A copy of what `ccol_indices` gives.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ccol_indices_copy(torch.ones(3))
    Traceback (most recent call last):
    RuntimeError: ccol_indices expected sparse column compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("row_indices", "column compressed tensor")
def row_indices():
    """The rows of the elements of a tensor compressed by columns.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.ones(3).row_indices()
    Traceback (most recent call last):
    RuntimeError: row_indices expected sparse column compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """


@_part("row_indices_copy", "column compressed tensor")
def row_indices_copy():
    """A copy of what `row_indices` gives.

    Raises: RuntimeError, as for every dense tensor.

    >>> torch.row_indices_copy(torch.ones(3))
    Traceback (most recent call last):
    RuntimeError: row_indices expected sparse column compressed tensor layout but got Strided
    A tensor of shape [3] is dense here: nonzero() says where it is not zero.
    """
