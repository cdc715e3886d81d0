"""The functions that a file of PyTorch names: tensors from their memory, shape and strides.

Every argument comes from a file and is checked: a tensor that is made lies within its memory.
"""

from copyreg import _slotnames  # type: ignore[attr-defined]

import numpy as np

from tapegrad.autograd.node import make_leaf
from tapegrad.core.annotations import Any, Callable, DTypeLike, Sequence, Shape
from tapegrad.core.conj_neg_view import turned
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.errors import runtime_error
from tapegrad.core.memory_format import layout, span
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.core.torch_dispatch import dispatches
from tapegrad.core.untyped_storage import UntypedStorage
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.legacy_constructor import retyped
from tapegrad.operators.creation.typed_storage import TypedStorage
from tapegrad.serialization.message import lacking, malformed
from tapegrad.tensors.tensor import Tensor

_LARGEST = 2**63 - 1


def is_int64(n: object) -> bool:
    """Whether `n` is an integer of Python that fits in 64 bits.

    >>> from tapegrad.serialization.rebuild import is_int64
    >>> is_int64(-(2**63)), is_int64(2**63), is_int64(1.0)
    (True, False, False)
    """
    return type(n) is int and -_LARGEST - 1 <= n <= _LARGEST


def rebuild_tensor(storage: Any, offset: Any, size: Shape, stride: Shape) -> Any:
    """A tensor in its memory."""
    if type(storage) is not TypedStorage:
        raise malformed("a tensor's memory is no storage")
    return wrap(_strided(storage._untyped_storage, storage._dtype, offset, size, stride))


def rebuild_tensor_v2(
    storage: Any,
    offset: Any,
    size: Shape,
    stride: Shape,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    """A tensor in its memory, with `requires_grad`; its hooks are not kept."""
    return _completed(rebuild_tensor(storage, offset, size, stride), requires_grad, metadata)


def rebuild_tensor_v3(
    storage: Any,
    offset: Any,
    size: Shape,
    stride: Shape,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: DTypeLike,
    metadata: Any = None,
) -> Any:
    """A tensor in its memory, which is one of bytes."""
    if type(storage) is not UntypedStorage or type(dtype) is not Dtype:
        raise malformed("a tensor's memory is no storage")
    return _completed(wrap(_strided(storage, dtype, offset, size, stride)), requires_grad, metadata)


def rebuild_meta_tensor(dtype: Any, size: Shape, stride: Shape, requires_grad: bool) -> Any:
    """A tensor without memory."""
    from tapegrad.operators.creation.empty_strided import empty_strided

    if type(dtype) is not Dtype:
        raise malformed("the dtype of a tensor is none")
    _check_places(0, size, stride, dtype.itemsize)
    found = empty_strided(size, stride, dtype=dtype, device="meta")
    return _completed(found, requires_grad, None)


def rebuild_wrapper_subclass(
    cls: Any, dtype: Any, size: Shape, stride: Shape, offset: Any, *where: Any
) -> Any:
    """A tensor without memory of a class that dispatches; `where`: layout, device, gradient."""
    if not isinstance(cls, type) or not issubclass(cls, Tensor) or not dispatches(cls):
        raise malformed("the class of a tensor that wraps others is no such class")
    if type(dtype) is not Dtype or len(where) != 3 or type(where[2]) is not bool:
        raise malformed("the dtype of a tensor is none")
    _check_places(offset, size, stride, dtype.itemsize)
    options: dict[str, Any] = {"dtype": dtype, "device": where[1], "requires_grad": where[2]}
    return Tensor._make_wrapper_subclass(cls, size, stride, offset, **options)


def rebuild_sparse_tensor(kind: Any, data: Any) -> Any:
    """A sparse tensor of its indices, values and sizes."""
    from tapegrad.core.memory_format import SPARSE_LAYOUTS, sparse_coo
    from tapegrad.sparse.compressed_creation import sparse_compressed_tensor
    from tapegrad.sparse.creation import sparse_coo_tensor

    if kind in SPARSE_LAYOUTS and kind is not sparse_coo:
        if type(data) is not tuple or len(data) != 4:
            raise malformed("a compressed tensor is not made of two indices, values and sizes")
        if not all(isinstance(x, Tensor) for x in data[:3]):
            raise malformed("a compressed tensor is made of something that is no tensor")
        return sparse_compressed_tensor(*data, layout=kind, check_invariants=True)
    if kind is not sparse_coo:
        raise lacking(f"tensors of layout {kind}", "torch._utils._rebuild_sparse_tensor")
    if type(data) is not tuple or len(data) not in (3, 4):
        raise malformed("a sparse tensor is not made of indices, values and sizes")
    indices, values, size, *coalesced = data
    if not isinstance(indices, Tensor) or not isinstance(values, Tensor):
        raise malformed("a sparse tensor is made of something that is no tensor")
    flag = coalesced[0] if coalesced else None
    return sparse_coo_tensor(indices, values, size, check_invariants=True, is_coalesced=flag)


def rebuild_parameter(data: object, requires_grad: bool, backward_hooks: Any) -> Any:
    """A parameter on the memory of `data`."""
    if not isinstance(data, Tensor) or type(requires_grad) is not bool:
        raise malformed("a parameter is made of something that is no tensor")
    return Parameter(data, requires_grad)


def rebuild_parameter_with_state(
    data: object, requires_grad: bool, backward_hooks: Any, state: dict
) -> Any:
    """A parameter and its attributes."""
    return _with_attributes(rebuild_parameter(data, requires_grad, backward_hooks), state)


def rebuild_from_type(function: Callable, cls: Any, args: Sequence, state: dict) -> Any:
    """A tensor of a class and its attributes: `function(*args)`, then those."""
    if function not in _TENSOR_FUNCTIONS or type(args) is not tuple:
        raise malformed("a tensor is made by a function that makes none")
    found = function(*args)
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise malformed("the class of a tensor is no class of tensors")
    if cls is not type(found):
        found = retyped(found, cls)
    return _with_attributes(found, state)


def get_layout(name: Any) -> Any:
    """The layout that prints as `name`."""
    from tapegrad.core import memory_format

    if type(name) is not str:
        raise malformed("the name of a layout is no text")
    found = getattr(memory_format, name.removeprefix("torch."), None)
    if type(found) is not layout:
        raise lacking("layout", repr(name)[:100])
    return found


def with_metadata(found: object, state: dict) -> None:
    """Give an object its attributes, a dict of names; in a tuple, a second for `__slots__`."""
    parts: Any = state if type(state) is tuple and len(state) == 2 else (state, None)
    for part in parts:
        if part is not None and (type(part) is not dict or not all(type(x) is str for x in part)):
            raise malformed("the attributes of an object are no dict of names")
    attributes, slots = parts
    if attributes is not None:
        if not hasattr(found, "__dict__"):
            raise malformed("the attributes of an object are no dict of names")
        found.__dict__.update(attributes)
    own = set(_slotnames(type(found))) - set(TensorBase.__slots__) if slots else ()
    for name, value in (slots or {}).items():
        if name not in own:
            raise malformed(f"an object has no slot {name!r}")
        setattr(found, name, value)


_TENSOR_FUNCTIONS = (
    rebuild_tensor, rebuild_tensor_v2, rebuild_tensor_v3, rebuild_parameter, rebuild_meta_tensor,
    rebuild_wrapper_subclass,
)  # fmt: skip


def _with_attributes(found: object, state: Any) -> Any:
    restore = getattr(type(found), "__setstate__", None)
    if restore is not None:
        restore(found, state)
        return found
    attributes = state[0] if type(state) is tuple and state else state
    if type(attributes) is dict:
        own = not type(found).__module__.startswith(("tapegrad", "torch"))
        for name, value in attributes.items():
            if own and isinstance(value, Tensor):  # in a class that was allowed
                continue
            if type(name) is str and hasattr(type(found), name):
                raise malformed(f"an attribute would hide the method or property {name!r}")
    with_metadata(found, state)
    return found


def _completed(found: Any, requires_grad: Any, metadata: Any) -> Any:
    if metadata is not None:
        if type(metadata) is not dict:
            raise malformed("what is said about a tensor is no dict")
        conj = metadata.get("conj") is True and found.dtype.is_complex
        found = wrap(turned(found._array, conj, metadata.get("neg") is True))
    if type(requires_grad) is not bool:
        raise malformed("requires_grad is neither True nor False")
    if requires_grad:
        if not (found.dtype.is_floating_point or found.dtype.is_complex):
            raise malformed(f"a tensor of {found.dtype} cannot require grad")
        make_leaf(found)
    return found


def _strided(storage: UntypedStorage, dtype: Dtype, offset: Any, size: Any, stride: Any) -> Any:
    _check_places(offset, size, stride, dtype.itemsize)
    n = span(size, stride)
    itemsize = dtype.itemsize
    available = storage.nbytes() // itemsize
    if n and offset + n > available:
        raise runtime_error(
            "Trying to resize storage that is not resizable",
            f"Sizes {list(size)}, strides {list(stride)} and offset {offset} need {offset + n} "
            f"elements, and the file has {available}: it was altered.",
        )
    memory: Any = storage.elements("u1")
    steps = [step * itemsize for step in stride]
    if type(memory) is MetaArray:
        return memory.view(dtype.numpy).strided(offset * itemsize if n else 0, tuple(size), steps)
    return np.ndarray(size, dtype.numpy, memory, offset * itemsize if n else 0, steps)


def _check_places(offset: Any, size: Any, stride: Any, itemsize: int) -> None:
    """Raise where elements cannot lie so."""
    if not isinstance(size, tuple) or not isinstance(stride, tuple):
        raise malformed("the sizes and strides of a tensor are no tuples")
    if len(size) != len(stride):
        raise RuntimeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if len(size) > 64:
        raise RuntimeError(f"a tensor of {len(size)} dimensions: NumPy has arrays of up to 64")
    if not all(is_int64(n) for n in (offset, *size, *stride)):
        raise malformed("the sizes, strides and offset of a tensor are no integers of 64 bits")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if any(n < 0 for n in size):
        raise RuntimeError("numel: integer multiplication overflow")
    _check_products(size, stride, itemsize)


def _check_products(size: tuple[int, ...], stride: tuple[int, ...], itemsize: int) -> None:
    """Raise where the shape or a step counts more bytes than there are addresses."""
    count = itemsize
    for n, step in zip(size, stride, strict=True):
        count *= max(n, 1)
        if count > _LARGEST:
            raise RuntimeError("numel: integer multiplication overflow")
        if not 0 <= step * max(n, 1) * itemsize <= _LARGEST:
            raise RuntimeError(
                f"Storage size calculation overflowed with sizes={list(size)} and "
                f"strides={list(stride)}"
            )
