"""A sparse tensor in coordinate format: a tensor that holds two dense ones, indices and values.

    indices  (sparse_dim, nnz)              int64; column k says where values[k] stands
    values   (nnz, *shape[sparse_dim:])     elements that have the same indices are added

Its place in the graph is that of its values: what is computed from a sparse tensor is computed from
them, and the gradient that reaches them, with the same indices, is the sparse tensor's. Operators
are functions of dense tensors in a table (`table.py`); what is not in it raises.
"""

from typing import Any

import numpy as np

from tapegrad.autograd.view import edge_of
from tapegrad.core import errors, tensor_base
from tapegrad.core.memory_format import sparse_coo
from tapegrad.core.size import from_shape
from tapegrad.core.tensor_base import VALUES_OF, wrap
from tapegrad.core.torch_function import IN_USE, Overridden, name_of, undisturbed
from tapegrad.sparse.table import PROPERTIES, TABLE, refused
from tapegrad.tensors.overriding import guarded_names, plain_static
from tapegrad.tensors.tensor import Tensor

new = object.__new__
_set_array = tensor_base.TensorBase.__dict__["_array"].__set__

ELSEWHERE = ("torch.linalg.", "torch.fft.", "torch.special.")
_ALONE = ("sparse_resize_", "sparse_resize_and_clear_", "_coalesced_", "_dimI", "_dimV")
"""Methods that dense tensors do not have."""

AS_THEY_ARE = frozenset(
    "requires_grad is_leaf grad_fn _grad_fn output_nr _base _is_view _cdata is_cpu is_meta "
    "__hash__ __dir__".split()
)


class SparseTensor(Tensor):
    """A tensor of layout `torch.sparse_coo`."""

    __slots__ = ("_coalesced", "_data", "_index", "_shape")

    _coalesced: bool
    _data: Any  # its values, with their history
    _index: Any
    _shape: tuple

    is_sparse = True
    is_cpu, is_meta = True, False
    layout = sparse_coo
    __array_ufunc__ = None  # NumPy leaves operators between an array and a sparse tensor to it

    def __init_subclass__(cls) -> None:
        """A class of sparse tensors has its own methods: nothing of it needs to be guarded."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        """What the table has for a function; an error where it has nothing."""
        name = getattr(func, "__name__", "")
        kwargs = kwargs or {}
        if name == "__get__":
            return _attribute(func, args[0])
        if not isinstance(func, type(_attribute)) or not name_of(func).startswith(ELSEWHERE):
            found = TABLE.get(name)
            if found is not None:
                return found(*args, **kwargs)
        if name in AS_THEY_ARE:
            return undisturbed(func, *args, **kwargs)
        raise refused(name)

    def _alike(self, values: Any, coalesced: bool) -> Any:
        """A tensor with the indices and the layout of this one and other values."""
        return make(self._index, values, self._shape, coalesced)

    @property
    def _array(self) -> Any:
        raise Overridden(
            "a sparse tensor has no array: this is not supported on sparse tensors\n"
            "Take to_dense() first.",
            name="_array",
            obj=self,
        )

    @property
    def _node(self) -> Any:
        values = self._data
        return values._node if values._view is None else edge_of(values)

    @_node.setter
    def _node(self, value: Any) -> None:
        raise errors.not_implemented(
            "a sparse tensor as the result of a custom function that is recorded",
            "Return the values, and make the sparse tensor of them outside.",
        )

    @property
    def _counter(self) -> Any:
        return self._data._counter

    @property
    def _grad(self) -> Any:
        found = self._data._grad
        return found if found is None or self.is_leaf else gradient_at(self, found)

    @_grad.setter
    def _grad(self, value: Any) -> None:
        if value is not None:
            check_gradient(value, self)
        self._data._grad = value

    @property
    def shape(self) -> Any:
        """The size of each dimension, sparse ones first."""
        return from_shape(self._shape)

    @property
    def dtype(self) -> Any:
        """The type of the values."""
        return self._data.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def device(self) -> Any:
        """Where the values live."""
        return self._data.device

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to the values."""
        return self._data.requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self._data.requires_grad = flag
        as_leaf(self)

    @property
    def is_leaf(self) -> bool:
        """Whether no operator that records made the values."""
        return self._data.is_leaf

    @property
    def grad(self) -> Any:
        """The gradient so far: sparse, with the indices of this tensor."""
        if not self._data.is_leaf:
            _ = self._data.grad  # which warns
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        self._grad = value

    @property
    def _backward_hooks(self) -> Any:
        return None

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: Any) -> None:
        if hooks is not None:
            raise errors.not_implemented(
                "_backward_hooks of a sparse tensor", "register_hook() adds one."
            )

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        from tapegrad.sparse.printing import sparse_repr

        return sparse_repr(self)

    def __format__(self, spec: str) -> str:
        if spec:
            raise errors.type_error(
                "unsupported format string passed to Tensor.__format__", "Format str(x) instead."
            )
        return repr(self)

    def __dir__(self) -> list[str]:
        return dir(Tensor)


def _attribute(access: Any, tensor: Any) -> Any:
    prop = access.__self__
    name = next((n for n in PROPERTIES if getattr(Tensor, n, None) is prop), "")
    if name:
        return PROPERTIES[name](tensor)
    name = getattr(prop.fget, "__name__", "")
    if name in AS_THEY_ARE or not isinstance(getattr(Tensor, name, None), property):
        return undisturbed(access, tensor)
    raise refused(name)


def make(
    indices: Any, values: Any, shape: Any, coalesced: bool = False, cls: type = SparseTensor
) -> Any:
    """A sparse tensor of its parts, which are not looked at; `indices` may be a NumPy array."""
    found: Any = new(cls)
    _set_array(found, None)  # what `torch_dispatch.array_of` reads
    found._index = wrap(indices) if isinstance(indices, np.ndarray) else indices
    found._data, found._shape = values, tuple(shape)
    found._coalesced = bool(coalesced) or values._array.shape[0] < 2
    found._view = None
    found._signature = False
    found._born = tensor_base.BORN[0]
    return found


def is_sparse(x: object) -> bool:
    """Whether `x` is a sparse tensor."""
    return isinstance(x, SparseTensor)


def places(x: Any) -> np.ndarray:
    """The indices as an array: (sparse_dim, nnz)."""
    return x._index._array


def dense_shape(x: Any) -> tuple:
    """The sizes of the dimensions that are not sparse."""
    return x._shape[places(x).shape[0] :]


def positions(where: np.ndarray, shape: Any) -> np.ndarray:
    """One number for each column of indices, in the order of a dense tensor: (nnz,)."""
    found = np.zeros(where.shape[1], np.int64)
    for row, n in zip(where, shape[: len(where)], strict=True):
        found = found * n + row
    return found


def with_values(x: Any, values: Any, coalesced: bool | None = None) -> Any:
    """A tensor with the indices of `x` and other values."""
    return x._alike(values, x._coalesced if coalesced is None else coalesced)


def as_leaf(x: Any) -> Any:
    """`x`, whose values are told where they stand if it is a leaf: their gradient is sparse."""
    values = x._data
    if values.requires_grad and values.is_leaf:
        values.__dict__[VALUES_OF] = x._alike(values.detach(), x._coalesced)
    return x


def gradient_at(x: Any, g: Any) -> Any:
    """The gradient of `x`, of which `g` are those of its values: each index once, in order."""
    if x._coalesced or x.layout is not sparse_coo:
        return with_values(x, g)
    first = np.unique(positions(places(x), x._shape), return_index=True)[1]
    return make(places(x)[:, first], picked(g, first), x._shape, True)


def carried(x: Any) -> Any:
    """The values for a tensor made of `x`, which is no leaf though `x` may be one."""
    values = x._data
    return values.view(values.shape) if values.requires_grad and values.is_leaf else values


def scattered(values: Any, at: np.ndarray, n: int) -> Any:
    """(n, ...): values (m, ...) added where `at` (m,) says; zeros elsewhere."""
    is_bool = str(values.dtype) == "torch.bool"
    if is_bool:
        values = values.byte()
    zeros = values.detach().new_zeros((n, *values.shape[1:]))
    found = zeros.index_add(0, wrap(at), values)
    return found.bool() if is_bool else found


def picked(values: Any, at: np.ndarray) -> Any:
    """Rows of values: (len(at), ...)."""
    return values.index_select(0, wrap(np.ascontiguousarray(at)))


def check_gradient(value: Any, like: Any) -> None:
    """Raise unless `value` is a tensor, dense or sparse, of the size of `like`."""
    if not isinstance(value, tensor_base.TensorBase) or value.shape != like.shape:
        raise errors.runtime_error(
            f"attempting to assign a gradient of size '{list(getattr(value, 'shape', ()))}' to a "
            f"tensor of size '{list(like.shape)}'. Please ensure that the gradient and the tensor "
            "are the same size",
            "Sum or reshape the gradient first.",
        )


SparseTensor.__name__ = SparseTensor.__qualname__ = "Tensor"
SparseTensor.__module__ = "torch"
tensor_base.SPARSE.append(SparseTensor)
IN_USE.append(SparseTensor)


def _method(name: str) -> Any:
    function = TABLE[name]

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    call.__name__ = name
    call.__doc__ = function.__doc__
    return call


def _property(name: str) -> property:
    return property(PROPERTIES[name])


def refusing_method(name: str, error: Any = refused) -> Any:
    """A method that sparse tensors do not have."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise error(name)

    call.__name__ = name
    call.__doc__ = f"`{name}`, which sparse tensors do not have."
    call.refuses = True  # type: ignore[attr-defined]
    return call


def refusing_property(name: str, error: Any = refused) -> property:
    """An attribute that sparse tensors do not have."""

    def of(self: Any) -> Any:
        raise error(name)

    of.__name__ = name
    return property(of)


def declare_methods() -> None:
    """Give the class what the table has, once it is whole; what else a tensor has raises."""
    own = vars(SparseTensor)
    for name in TABLE:
        if name not in own and (name in _ALONE or hasattr(Tensor, name)):
            setattr(SparseTensor, name, _method(name))
    for name in PROPERTIES:
        if name not in own:
            setattr(SparseTensor, name, _property(name))
    for name in (guarded_names() | {"__array__", "as_subclass", "_typed_storage"}) - set(own):
        if name in AS_THEY_ARE:
            continue
        value = plain_static(name)
        if isinstance(value, property):
            setattr(SparseTensor, name, refusing_property(name))
        elif hasattr(type(value), "__get__"):
            setattr(SparseTensor, name, refusing_method(name))
