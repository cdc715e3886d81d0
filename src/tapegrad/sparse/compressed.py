"""Sparse matrices in compressed format: rows (`torch.sparse_csr`) or columns (`torch.sparse_csc`).

A matrix holds its elements sorted by row or by column, their indices in that order, and the dtype
of the indices. How many elements each row or column has is counted from them: `crow_indices()`.
What is computed of a matrix is computed of its values, or of the same elements in coordinates, and
the result is compressed again.
"""

from typing import Any

import numpy as np

from tapegrad.arrays.numpy.searchsorted_bincount import counts_of
from tapegrad.core import errors, tensor_base
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.memory_format import layout as Layout
from tapegrad.core.memory_format import sparse_coo, sparse_csc, sparse_csr
from tapegrad.core.registration import FRONT_DOOR
from tapegrad.core.shape import axis_of as _axis
from tapegrad.core.tensor_base import wrap
from tapegrad.core.torch_function import IN_USE, name_of, undisturbed
from tapegrad.sparse.coalesce import coalesce
from tapegrad.sparse.conversion import to_sparse
from tapegrad.sparse.pointwise import LINEAR, OTHERS
from tapegrad.sparse.table import COMPRESS, PROPERTIES, TABLE, refused
from tapegrad.sparse.tensor import (
    AS_THEY_ARE,
    ELSEWHERE,
    SparseTensor,
    carried,
    is_sparse,
    make,
    picked,
    places,
    refusing_method,
    refusing_property,
)

INT64 = BY_NAME["int64"]
KIND = {sparse_csr: "SparseCsr", sparse_csc: "SparseCsc", sparse_coo: "Sparse"}
"""What PyTorch calls layouts in its messages."""

COMPRESSED: dict[str, Any] = {}
"""Functions and methods by name, as `TABLE` has them for coordinate format."""


class CompressedTensor(SparseTensor):
    """A tensor of layout `torch.sparse_csr` or `torch.sparse_csc`."""

    __slots__ = ("_index_dtype", "_layout")

    _index_dtype: Any
    _layout: Layout

    is_sparse = False

    @property
    def layout(self) -> Any:
        """Which dimension is compressed."""
        return self._layout

    @property
    def is_sparse_csr(self) -> bool:
        """Whether rows are compressed."""
        return self._layout is sparse_csr

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        """What the table has for a function; an error where it has nothing."""
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return SparseTensor.__torch_function__(func, types, args, kwargs)
        elsewhere = callable(func) and name_of(func).startswith(ELSEWHERE)
        if name in COMPRESSED and not elsewhere:
            return COMPRESSED[name](*args, **(kwargs or {}))
        if name in AS_THEY_ARE:
            return undisturbed(func, *args, **(kwargs or {}))
        raise _refused(name)

    def _alike(self, values: Any, coalesced: bool) -> Any:
        return compressed(self._index, values, self._shape, self._layout, self._index_dtype)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        from tapegrad.sparse.printing import sparse_repr

        return sparse_repr(self)


def compressed(
    indices: Any, values: Any, shape: Any, layout: Layout, index_dtype: Any = INT64
) -> Any:
    """A matrix of its parts, which are in order: indices (2, nnz), values (nnz, ...)."""
    found = make(indices, values, shape, False, CompressedTensor)
    found._layout, found._index_dtype = layout, index_dtype
    if layout is sparse_csr and not found._coalesced:
        rows, columns = places(found)
        at = rows * shape[1] + columns
        found._coalesced = bool((at[1:] > at[:-1]).all())
    return found


def is_compressed(x: object) -> bool:
    """Whether `x` is a matrix in compressed format."""
    return isinstance(x, CompressedTensor)


def coordinates(x: Any) -> Any:
    """The same elements in coordinate format; what is not compressed as it is."""
    if isinstance(x, CompressedTensor):
        return make(x._index, x._data, x._shape, x._coalesced)
    return x


def compress(x: Any, layout: Layout, index_dtype: Any = INT64) -> Any:
    """A sparse matrix, in coordinates or compressed, in a compressed layout."""
    if is_compressed(x) and x._layout is layout:
        return x
    if len(places(x)) != 2:
        raise errors.not_implemented(
            f"a tensor of layout {layout} with sizes {tuple(x._shape)}, of which "
            f"{len(places(x))} are sparse: matrices of elements alone are there",
            "torch.sparse_coo has any number of dimensions.",
        )
    found = coalesce(coordinates(x))
    index, values = found._index, found._data
    if layout is sparse_csc:
        order = np.argsort(index._array[1], kind="stable")
        index, values = index._array[:, order], picked(values, order)
    elif values is x._data and values.requires_grad and values.is_leaf:
        values = values.view(values.shape)
    return compressed(index, values, x._shape, layout, index_dtype)


def _compressed_like(x: Any, result: Any) -> Any:
    if isinstance(result, SparseTensor) and not is_compressed(result):
        return compress(result, x._layout, x._index_dtype)
    return result


def _refused(name: str) -> Exception:
    if name in ("numpy", "__array__"):
        return errors.type_error(
            "can't convert SparseCsr layout tensor to numpy. Use Tensor.to_dense() first.",
            "Its values() and indices are dense tensors.",
        )
    return refused(name, "SparseCsrCPU")


def _gives(*names: str) -> Any:
    """Put a function into the table of compressed matrices under `names`."""

    def put(function: Any) -> Any:
        COMPRESSED.update(dict.fromkeys(names, function))
        return function

    return put


_OF_VALUES = (
    "__bool__ __float__ __index__ __int__ __len__ _nnz _require alias backward bfloat16 bool byte "
    "cdouble cfloat chalf char conj cpu cuda dense_dim detach detach_ dim double element_size "
    "float get_device grad half int is_complex is_conj is_floating_point is_inference is_neg "
    "is_nonzero is_pinned is_same_size is_shared is_signed item lift lift_fresh long ndimension "
    "nelement numel register_hook register_post_accumulate_grad_hook requires_grad_ resolve_conj "
    "resolve_neg result_type retain_grad short size sparse_dim to to_dense"
)
"""What is of the values, or of indices in any order: as in coordinate format."""


def _put_function(name: str) -> None:
    def function(input: Any, **kwargs: Any) -> Any:
        """The function of each value."""
        if kwargs.pop("inplace", False):
            raise _refused(f"{name}_")
        return input._alike(getattr(FRONT_DOOR(), name)(input._data, **kwargs), False)

    function.__name__ = name
    operator = {"neg": "__neg__", "abs": "__abs__", "positive": "__pos__"}.get(name, name)
    _gives(name, operator)(function)


for _name in (LINEAR + " " + OTHERS).split():
    if _name not in ("square", "isneginf", "isposinf", "nan_to_num", "conj"):
        _put_function(_name)


def _put_product(name: str) -> None:
    def function(*operands: Any, **kwargs: Any) -> Any:
        """The product; of two sparse matrices one that is compressed by rows."""
        given = {k: coordinates(x) for k, x in kwargs.items()}
        found = TABLE[name](*map(coordinates, operands), **given)
        return compress(found, sparse_csr) if isinstance(found, SparseTensor) else found

    function.__name__ = name
    _gives(name)(function)


for _name in "mm mv matmul __matmul__ __rmatmul__ addmm spmm linear".split():
    _put_product(_name)


def _unsupported(x: Any) -> Exception:
    return errors.runtime_error(
        f"unsupported tensor layout: {KIND[x.layout]}",
        "to_sparse_coo() and to_dense() give it in other layouts.",
    )


def _same_layout(a: Any, b: Any) -> None:
    if is_sparse(a) and is_sparse(b) and a.layout is not b.layout:
        raise errors.not_implemented(
            f"a sum or product of tensors of layouts {a.layout} and {b.layout}",
            "Convert one of them: to_sparse_csr(), to_sparse_csc(), to_sparse_coo().",
        )


@_gives("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """A sum: compressed where both are, dense where one is."""
    _same_layout(input, other)
    if not all(isinstance(x, tensor_base.TensorBase) for x in (input, other)):
        raise _unsupported(input if is_compressed(input) else other)
    like = input if is_compressed(input) else other
    dense = next((x for x in (input, other) if not is_sparse(x)), None)
    if dense is not None:  # PyTorch's operators of a dense and a compressed one, in either order
        first, second = (TABLE["to_dense"](x) if is_sparse(x) else x for x in (input, other))
        return FRONT_DOOR().add(first, second, alpha=alpha)
    return _compressed_like(like, TABLE["add"](coordinates(input), coordinates(other), alpha=alpha))


@_gives("mul", "__mul__", "__rmul__", "multiply")
def mul(input: Any, other: Any) -> Any:
    """A product with a number, or of elements; compressed."""
    _same_layout(input, other)
    like = input if is_compressed(input) else other
    factor = other if like is input else input
    if not isinstance(factor, tensor_base.TensorBase) or not factor.shape:
        return like._alike(like._data * factor, False)
    return _compressed_like(like, TABLE["mul"](coordinates(input), coordinates(other)))


@_gives("sum")
def sum_(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of all elements."""
    if dim is not None:
        raise errors.runtime_error(
            "reduction operations on CSR tensors with keepdim=False is unsupported"
            if not keepdim
            else "torch.sum of a compressed matrix along a dimension is not supported",
            "to_sparse_coo() can be summed along a dimension.",
        )
    return input._data.sum(dtype=dtype)


@_gives("t")
def t(input: Any) -> Any:
    """The transposed matrix: compressed by columns where this one is by rows, and back."""
    if len(input._shape) != 2:
        raise errors.runtime_error(
            f"t() expects a tensor with <= 2 dimensions, but self is {len(input._shape)}D",
            "transpose(0, 1) exchanges the first two.",
        )
    return _transposed(input)


def _transposed(input: Any) -> Any:
    layout = sparse_csc if input._layout is sparse_csr else sparse_csr
    index = places(input)[::-1].copy()
    shape = (*input._shape[1::-1], *input._shape[2:])
    return compressed(index, carried(input), shape, layout, input._index_dtype)


@_gives("transpose", "swapaxes", "swapdims")
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged."""
    rank = len(input._shape)
    first, second = sorted((_axis(dim0, rank), _axis(dim1, rank)))
    if first == second:
        return input
    if (first, second) != (0, 1):
        raise errors.runtime_error(
            f"transpose(): can only transpose dimensions 0 and 1 of a {KIND[input.layout]} tensor",
            "The others are dimensions of its values.",
        )
    return _transposed(input)


@_gives("select", "__getitem__")
def select(input: Any, *where: Any) -> Any:
    """A row or a column, sparse; or one element."""
    name = "__getitem__" if len(where) == 1 else "select"
    return TABLE[name](TABLE["to_sparse"](_in_coordinates(input)), *where)


def _in_coordinates(x: Any) -> Any:
    found = make(x._index, carried(x), x._shape, x._coalesced)
    return coalesce(found)


@_gives("to_sparse", "to_sparse_coo")
def to_coordinates(input: Any, sparse_dim: Any = None, *, layout: Any = None, **_: Any) -> Any:
    """The same elements in coordinate format, or in the layout that is asked for."""
    if layout in (sparse_csr, sparse_csc):
        return compress(input, layout, input._index_dtype)
    return to_sparse(_in_coordinates(input), sparse_dim, layout=layout)


@_gives("to_sparse_csr")
def to_sparse_csr(input: Any, dense_dim: Any = None) -> Any:
    """The same elements compressed by rows."""
    return compress(input, sparse_csr, input._index_dtype)


@_gives("to_sparse_csc")
def to_sparse_csc(input: Any, dense_dim: Any = None) -> Any:
    """The same elements compressed by columns."""
    return compress(input, sparse_csc, input._index_dtype)


@_gives("sparse_mask")
def sparse_mask(input: Any, mask: Any) -> Any:
    """The elements of `input` where `mask`, a compressed matrix, has any."""
    found = TABLE["sparse_mask"](coordinates(input), coordinates(mask))
    return mask._alike(found._data, False) if is_compressed(mask) else found


@_gives("clone", "__copy__")
def clone(input: Any, *, memory_format: Any = None) -> Any:
    """A copy with its history."""
    return input._alike(input._data.clone(), False)


@_gives("zeros_like", "empty_like")
def zeros_like(input: Any, *, dtype: Any = None, requires_grad: bool = False, **_: Any) -> Any:
    """A matrix of the same size and layout without elements."""
    values = input._data.detach().new_zeros((0, *input._shape[2:]), dtype=dtype)
    index = np.zeros((2, 0), np.int64)
    found = compressed(index, values, input._shape, input._layout, input._index_dtype)
    return found.requires_grad_() if requires_grad else found


@_gives("__deepcopy__")
def deepcopy(input: Any, memo: dict) -> Any:
    """A copy of a leaf and its gradient."""
    if id(input) not in memo:
        values = input._data.__deepcopy__(memo)
        memo[id(input)] = found = input._alike(values, False)
        found.__dict__.update(input.__dict__)
    return memo[id(input)]


def rebuilt(
    indices: Any, values: Any, shape: Any, layout: Layout, kind: Any, requires_grad: bool
) -> Any:
    """The matrix that `reduce` took apart."""
    found = compressed(indices, values, shape, layout, kind)
    return found.requires_grad_() if requires_grad else found


@_gives("__reduce_ex__")
def reduce(input: Any, protocol: Any) -> tuple:
    """What a compressed matrix is made of, for pickle."""
    values = input._data.detach()
    parts = input._index, values, input._shape, input._layout, input._index_dtype
    return rebuilt, (*parts, input.requires_grad)


@_gives("values")
def values(input: Any) -> Any:
    """The values in order, with their history."""
    return input._data.view(input._data.shape)


def _pointers(x: Any, axis: int) -> Any:
    lengths = counts_of(places(x)[axis], x._shape[axis])
    return wrap(np.concatenate(([0], np.cumsum(lengths))).astype(x._index_dtype.numpy))


def _put_indices(name: str, layout: Layout, axis: int, of: Any, which: str) -> None:
    def function(input: Any) -> Any:
        """Where each row or column begins among the values, or the indices of the values."""
        if input.layout is not layout:
            raise errors.runtime_error(
                f"{name} expected sparse {which} compressed tensor layout but got "
                f"{KIND[input.layout]}",
                "to_sparse_csr() compresses rows, to_sparse_csc() columns.",
            )
        return of(input, axis)

    function.__name__ = name
    _gives(name)(function)


def _plain(x: Any, axis: int) -> Any:
    return wrap(places(x)[axis].astype(x._index_dtype.numpy))


_put_indices("crow_indices", sparse_csr, 0, _pointers, "row")
_put_indices("col_indices", sparse_csr, 1, _plain, "row")
_put_indices("ccol_indices", sparse_csc, 1, _pointers, "column")
_put_indices("row_indices", sparse_csc, 0, _plain, "column")


def _put_coordinate_only(name: str) -> None:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        raise errors.runtime_error(
            f"{name} expected sparse coordinate tensor layout but got {KIND[input.layout]}",
            "to_sparse_coo() gives the tensor in coordinate format.",
        )

    function.__name__ = name
    _gives(name)(function)


for _name in "coalesce is_coalesced indices".split():
    _put_coordinate_only(_name)

for _name in (
    "sub __sub__ __rsub__ rsub div __truediv__ true_divide divide exp pow __pow__ square eq ne "
    "__eq__ __ne__ gt __gt__ lt __lt__ ge __ge__ le __le__ masked_fill allclose isclose"
).split():

    def _not_pointwise(input: Any, *args: Any, **kwargs: Any) -> Any:
        raise _unsupported(next(x for x in (input, *args) if is_compressed(x)))

    COMPRESSED[_name] = _not_pointwise


def declare() -> None:
    """Give the class what its table has; what else a sparse tensor has raises."""
    own = vars(CompressedTensor)
    COMPRESSED.update({name: TABLE[name] for name in _OF_VALUES.split()})
    of_coordinates = vars(SparseTensor)
    refusing = {name for name, x in of_coordinates.items() if hasattr(x, "refuses")}
    for name in refusing | set(TABLE) | set(COMPRESSED):
        if name in own or isinstance(of_coordinates.get(name), property):
            continue
        function = COMPRESSED.get(name)
        setattr(
            CompressedTensor,
            name,
            refusing_method(name, _refused) if function is None else _method(name, function),
        )
    for name in ("H", "T", "mH", "mT"):
        setattr(CompressedTensor, name, refusing_property(name, _refused))
    PROPERTIES.setdefault("is_sparse_csr", lambda x: getattr(x, "is_sparse_csr", False))


def _method(name: str, function: Any) -> Any:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = function.__doc__
    return call


CompressedTensor.__name__ = CompressedTensor.__qualname__ = "Tensor"
CompressedTensor.__module__ = "torch"
IN_USE.append(CompressedTensor)
COMPRESS.append(compress)
