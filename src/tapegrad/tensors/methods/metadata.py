"""Methods that answer questions: sizes, strides, where a tensor is, what it is not."""

from tapegrad.arrays.namespaces import below_batches, is_batched
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.core import errors
from tapegrad.core import storage as _storage
from tapegrad.core.annotations import Any, DeviceLike
from tapegrad.core.device import CPU, META
from tapegrad.core.lazy import method
from tapegrad.core.memory_format import strided
from tapegrad.core.meta_array import MetaArray, device_of
from tapegrad.core.registration import SPARSE
from tapegrad.core.storage_follower import Freed
from tapegrad.core.torch_dispatch import StandIn
from tapegrad.core.untyped_storage import UntypedStorage, storage_of
from tapegrad.operators.conversion import metadata
from tapegrad.operators.shape import set_resize


class QueryMethods:
    """Questions that need no computing, and changes of memory."""

    __slots__ = ()
    _view: Any

    size = metadata.size
    stride = metadata.stride
    numel = metadata.numel
    nelement = metadata.numel
    is_contiguous = metadata.is_contiguous
    is_floating_point = metadata.is_floating_point
    is_complex = metadata.is_complex
    is_signed = metadata.is_signed
    is_nonzero = metadata.is_nonzero
    is_same_size = metadata.is_same_size
    is_set_to = metadata.is_set_to
    is_conj = metadata.is_conj
    is_distributed = metadata.is_distributed
    is_neg = metadata.is_neg
    get_device = metadata.get_device

    resize_ = set_resize.resize_
    resize_as_ = set_resize.resize_as_
    set_ = set_resize.set_
    share_memory_ = set_resize.share_memory_
    is_shared = set_resize.is_shared
    pin_memory = set_resize.pin_memory
    resize = method("tapegrad.operators.shape.memory_order", "resize")
    resize_as = method("tapegrad.operators.shape.memory_order", "resize_as")
    dim_order = method("tapegrad.operators.shape.memory_order", "dim_order")
    to_dense = method("tapegrad.operators.shape.memory_order", "to_dense")
    __reversed__ = method("tapegrad.operators.shape.memory_order", "reversed_rows")

    ccol_indices = method("tapegrad.operators.conversion.sparse_indices_values", "ccol_indices")
    coalesce = method("tapegrad.operators.conversion.sparse_indices_values", "coalesce")
    col_indices = method("tapegrad.operators.conversion.sparse_indices_values", "col_indices")
    _indices = method(SPARSE, "conversion._indices")
    _nnz = method(SPARSE, "conversion._nnz")
    _values = method(SPARSE, "conversion._values")
    smm = method(SPARSE, "matmul.smm")
    sparse_mask = method(SPARSE, "conversion.sparse_mask")
    sspaddmm = method(SPARSE, "matmul.sspaddmm")
    to_sparse = method(SPARSE, "conversion.to_sparse")
    to_sparse_coo = method(SPARSE, "conversion.to_sparse_coo")
    to_sparse_csc = method(SPARSE, "conversion.to_sparse_csc")
    to_sparse_csr = method(SPARSE, "conversion.to_sparse_csr")

    crow_indices = method("tapegrad.operators.conversion.sparse_indices_values", "crow_indices")
    indices = method("tapegrad.operators.conversion.sparse_indices_values", "indices")
    row_indices = method("tapegrad.operators.conversion.sparse_indices_values", "row_indices")
    values = method("tapegrad.operators.conversion.sparse_indices_values", "values")

    dequantize = method("tapegrad.operators.conversion.q_scale_int_repr", "dequantize")
    int_repr = method("tapegrad.operators.conversion.q_scale_int_repr", "int_repr")
    q_per_channel_axis = method(
        "tapegrad.operators.conversion.q_scale_int_repr", "q_per_channel_axis"
    )
    q_per_channel_scales = method(
        "tapegrad.operators.conversion.q_scale_int_repr", "q_per_channel_scales"
    )
    q_per_channel_zero_points = method(
        "tapegrad.operators.conversion.q_scale_int_repr", "q_per_channel_zero_points"
    )
    q_scale = method("tapegrad.operators.conversion.q_scale_int_repr", "q_scale")
    q_zero_point = method("tapegrad.operators.conversion.q_scale_int_repr", "q_zero_point")
    qscheme = method("tapegrad.operators.conversion.q_scale_int_repr", "qscheme")
    to_padded_tensor = method("tapegrad.operators.conversion.to_padded_tensor", "to_padded_tensor")

    _array: Any
    layout = strided
    is_cuda = is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_nested = False
    is_quantized = is_sparse = is_sparse_csr = is_vulkan = is_xla = is_xpu = False

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor is on the CPU."""
        return device_of(self._array) is CPU

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has a shape and no elements."""
        return device_of(self._array) is META

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
        array = self._array
        return 0 if type(array) is Freed or type(array) is MetaArray else _storage.address(array)

    def storage_offset(self) -> int:
        """How many elements lie in the memory before the first one of this tensor."""
        array = below_batches(self._array)
        if type(array) is StandIn:
            if array.inside is None:
                return array.offset
            array = array.inside
        if not array.size and self._view is not None:
            return _offset_of_nothing(self._view)
        return _storage.offset_of(array)

    def untyped_storage(self) -> UntypedStorage:
        """The memory as bytes, shared with all views of it."""
        array = self._array
        if type(array) is not Freed and is_batched(array):
            from tapegrad.arrays.batched.refusal import no_memory

            raise no_memory()
        return storage_of(array)

    def storage(self) -> Any:
        """The memory as elements, shared with all views of it.

        >>> torch.arange(4)[2:].untyped_storage().nbytes()
        32
        """
        from tapegrad.operators.creation import storage_warning

        storage_warning._warn_typed_storage_removal()
        return self._typed_storage()

    def _typed_storage(self) -> Any:
        from tapegrad.operators.creation.typed_storage import TypedStorage

        memory: Any = self.untyped_storage()
        return TypedStorage(wrap_storage=memory, dtype=self.dtype, _internal=True)  # type: ignore

    def storage_type(self) -> Any:
        """The class that makes storages of this dtype: `torch.FloatStorage`, ..."""
        from tapegrad.operators.creation.typed_storage import storage_class

        return storage_class(self.dtype)  # type: ignore

    def is_pinned(self, device: DeviceLike = None) -> bool:
        """Whether a GPU can read the memory directly."""
        return False

    def is_coalesced(self) -> bool:
        """Whether a sparse tensor names each element once: an error, this one is not sparse."""
        raise errors.runtime_error(
            "is_coalesced expected sparse coordinate tensor layout but got Strided",
            "Every tensor here is torch.strided.",
        )


def _offset_of_nothing(view: Any) -> int:
    """Where a view without elements would begin, which its address does not say."""
    x: Any = view.array
    found = _storage.offset_of(x)
    for step in view.steps:
        part = step.forward(numpy_namespace, x)
        if part.size:
            found += (_storage.address(part) - _storage.address(x)) // part.itemsize
        else:
            begin = step.params.get("start", step.params.get("index", 0))
            found += begin * x.strides[step.params["axis"]] // x.itemsize if begin else 0
        x = part
    return found
