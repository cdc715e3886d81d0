"""Methods that answer questions: sizes, strides, where a tensor is, what it is not."""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core import storage as _storage
from tapegrad.core.annotations import DeviceLike
from tapegrad.core.lazy import method
from tapegrad.core.memory_format import strided
from tapegrad.operators.conversion import metadata as _query
from tapegrad.operators.shape import set_resize as _memory


class QueryMethods:
    """Questions that need no computing, and changes of memory."""

    __slots__ = ()

    size = _query.size
    stride = _query.stride
    numel = _query.numel
    nelement = _query.numel
    is_contiguous = _query.is_contiguous
    is_floating_point = _query.is_floating_point
    is_complex = _query.is_complex
    is_signed = _query.is_signed
    is_nonzero = _query.is_nonzero
    is_same_size = _query.is_same_size
    is_set_to = _query.is_set_to
    is_conj = _query.is_conj
    is_neg = _query.is_neg
    get_device = _query.get_device

    resize_ = _memory.resize_
    resize_as_ = _memory.resize_as_
    set_ = _memory.set_
    share_memory_ = _memory.share_memory_
    is_shared = _memory.is_shared
    pin_memory = _memory.pin_memory
    resize = method("tapegrad.operators.shape.memory_order", "resize")
    resize_as = method("tapegrad.operators.shape.memory_order", "resize_as")
    dim_order = method("tapegrad.operators.shape.memory_order", "dim_order")
    to_dense = method("tapegrad.operators.shape.memory_order", "to_dense")
    __reversed__ = method("tapegrad.operators.shape.memory_order", "reversed_rows")

    _array: Any
    layout = strided
    is_cpu = True
    is_cuda = is_ipu = is_maia = is_meta = is_mkldnn = is_mps = is_mtia = is_nested = False
    is_quantized = is_sparse = is_sparse_csr = is_vulkan = is_xla = is_xpu = False

    def dim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    ndimension = dim

    def dense_dim(self) -> int:
        """The number of dimensions that are not sparse: all."""
        return self._array.ndim

    def sparse_dim(self) -> int:
        """The number of sparse dimensions: none."""
        return 0

    def element_size(self) -> int:
        """The number of bytes of an element."""
        return self._array.itemsize

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self._array.nbytes

    def data_ptr(self) -> int:
        """The address of the first element."""
        return _storage.address(self._array)

    def storage_offset(self) -> int:
        """How many elements lie in the memory before the first one of this tensor."""
        return _storage.offset_of(elements(self._array))

    def untyped_storage(self) -> _storage.UntypedStorage:
        """The bare memory, shared with all views of it."""
        if hasattr(self._array, "mapped"):
            from tapegrad.arrays.batched.refusal import no_memory

            raise no_memory()
        return _storage.UntypedStorage(self._array)

    def is_pinned(self, device: DeviceLike = None) -> bool:
        """Whether a GPU can read the memory directly."""
        return False

    def is_distributed(self) -> bool:
        """Whether the tensor is spread over machines."""
        return False

    def is_coalesced(self) -> bool:
        """Whether a sparse tensor names each element once: an error, this one is not sparse."""
        raise errors.runtime_error(
            "is_coalesced expected sparse coordinate tensor layout but got Strided",
            "Every tensor here is torch.strided.",
        )
