"""TypedStorage: the memory of tensors as elements of a dtype; `FloatStorage` and its like."""

from collections.abc import Iterator

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.device import CPU, as_device, require_cpu
from tapegrad.core.dtype import BY_NAME, default
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.untyped_storage import UntypedStorage, lines, storage_of
from tapegrad.operators.creation.nested_list import array_of
from tapegrad.operators.creation.storage_warning import _warn_typed_storage_removal, _warning


class TypedStorage:
    """The memory of a tensor and of all views of it, as elements of a dtype.

    Writes are seen by the tensors, and their version counters do not count them.

    Args:
        args: how many elements (default: none), or a sequence of them
        wrap_storage: the memory, an UntypedStorage, in the place of these

    >>> torch.TypedStorage([1, 2], dtype=torch.int64).tolist()
    [1, 2]
    """

    _dtype: Dtype
    _untyped_storage: UntypedStorage

    def __init__(
        self,
        *args: Any,
        device: Any = None,
        dtype: Any = None,
        wrap_storage: Any = None,
        _internal: bool = False,
    ):
        if not _internal:
            _warn_typed_storage_removal()
        if wrap_storage is None:
            require_cpu(CPU if device is None else _known_device(device))
            self._dtype = default() if dtype is None else dtype
            self._untyped_storage = _memory(args, self._dtype, _init_error)
            return
        problem: Any = None
        if args:
            problem = "No positional arguments should be given when using 'wrap_storage'"
        elif dtype is None:
            problem = "Argument 'dtype' must be specified"
        elif not isinstance(dtype, Dtype):
            problem = TypeError(f"Argument 'dtype' must be torch.dtype, not {type(dtype)}")
        elif device is not None:
            problem = "Argument 'device' should not be specified when 'wrap_storage' is given"
        elif not isinstance(wrap_storage, UntypedStorage):
            problem = _not_untyped(wrap_storage)
        if problem:
            raise _init_error(problem)
        self._dtype, self._untyped_storage = dtype, wrap_storage

    # --- what it is -----------------------------------------------------------------------------

    @property
    def dtype(self) -> Dtype:
        """The type of the elements."""
        _warn_typed_storage_removal()
        return self._dtype

    @property
    def device(self) -> Any:
        """Where the memory is."""
        _warn_typed_storage_removal()
        return CPU

    @property
    def is_cuda(self) -> bool:
        """Whether it is on a GPU."""
        _warn_typed_storage_removal()
        return False

    is_hpu = is_cuda
    is_sparse = False

    @property
    def filename(self) -> str | None:
        """The file that the memory is, if writes go to it."""
        _warn_typed_storage_removal()
        return self._untyped_storage.filename

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        _warn_typed_storage_removal()
        return self._untyped_storage

    def _size(self) -> int:
        """The number of elements."""
        return self._nbytes() // self._dtype.itemsize

    size = _warning(_size)
    __len__ = _warning(_size)

    def _nbytes(self) -> int:
        """The number of bytes."""
        return self._untyped_storage.nbytes()

    nbytes = _warning(_nbytes)

    def _element_size(self) -> int:
        """The number of bytes of an element."""
        return self._dtype.itemsize

    element_size = _warning(_element_size)

    def _data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    data_ptr = _warning(_data_ptr)

    def get_device(self) -> int:
        """The index of the GPU it is on; -1 for the CPU."""
        _warn_typed_storage_removal()
        return self._untyped_storage.get_device()

    def _is_shared(self) -> bool:
        """Whether other processes see what is written."""
        return self._untyped_storage.is_shared()

    is_shared = _warning(_is_shared)

    def is_pinned(self, device: Any = "cuda") -> bool:
        """Whether a GPU can read the memory directly."""
        _warn_typed_storage_removal()
        return self._untyped_storage.is_pinned(device)

    def resizable(self) -> bool:
        """Whether `resize_` works."""
        _warn_typed_storage_removal()
        return self._untyped_storage.resizable()

    def _pickle_storage_type(self) -> str:
        """The name of the storage of this dtype: FloatStorage, ..."""
        try:
            return _NAMES[self._dtype]
        except KeyError as error:
            raise KeyError(f"dtype {self._dtype} is not recognized") from error

    pickle_storage_type = _warning(_pickle_storage_type)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the storage of this dtype: torch.FloatStorage, ..."""
        _warn_typed_storage_removal()
        name = f"torch.{self._pickle_storage_type()}"
        if dtype is None:
            return name
        wanted = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        if wanted == name:
            return self
        text = f"a {name} is not made into a {wanted} by type()"
        raise errors.runtime_error(text, "float(), long(), ... convert the elements.")

    # --- elements -------------------------------------------------------------------------------

    def _tensor(self) -> Tensor:
        """The elements as a tensor with a version counter of its own."""
        return tensor_base.wrap(self._untyped_storage.elements(self._dtype.numpy))

    def __getitem__(self, index: Any) -> Any:
        _warn_typed_storage_removal()
        if isinstance(index, slice):
            text = "slices are only supported in UntypedStorage.__getitem__"
            raise errors.runtime_error(text, "tolist() gives a list, which has slices.")
        if isinstance(index, bool):
            raise _no_index(TypeError, self, index)
        if not hasattr(index, "__index__"):
            raise _no_index(RuntimeError, self, index)
        n = self._size()
        if not -n <= index < n:
            text = f"index {index} out of range for storage of size {n}"
            raise errors.index_error(text, "The last one is -1.")
        return self._tensor()[index].item()

    def _setitem(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice) and not hasattr(index, "__index__"):
            raise _no_index(RuntimeError, self, index)
        if isinstance(value, (TypedStorage, UntypedStorage)):
            text = f"cannot set item with value type {type(value)}"
            raise errors.runtime_error(text, "copy_() takes a storage.")
        self._tensor()[index] = value

    __setitem__ = _warning(_setitem)

    def fill_(self, value: Any) -> Any:
        """Set every element to the same number."""
        _warn_typed_storage_removal()
        self._setitem(slice(0, self._size()), value)
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> Any:
        """Take the bytes of another storage of the same number of bytes."""
        _warn_typed_storage_removal()
        self._untyped_storage.copy_(source, non_blocking)
        return self

    def tolist(self) -> list:
        """The elements as numbers."""
        _warn_typed_storage_removal()
        return self._tensor().tolist()

    def __iter__(self) -> Iterator:
        _warn_typed_storage_removal()
        return (self[i] for i in range(self._size()))

    def __repr__(self) -> str:
        _warn_typed_storage_removal()
        return (
            f"{lines(self._tensor().tolist())}[torch.storage.TypedStorage(dtype={self._dtype}, "
            f"device=cpu) of size {self._size()}]"
        )

    # --- other memory ---------------------------------------------------------------------------

    def _resize_(self, size: int) -> None:
        """Another number of elements; new ones are uninitialised. All tensors of it move."""
        self._untyped_storage.resize_(size * self._dtype.itemsize)

    resize_ = _warning(_resize_)

    def _share_memory_(self) -> Any:
        """Move to memory that processes forked from now on share, with all tensors."""
        self._untyped_storage.share_memory_()
        return self

    share_memory_ = _warning(_share_memory_)

    def pin_memory(self, device: Any = None) -> Any:
        """Memory that a GPU can read directly: an error, there is none."""
        _warn_typed_storage_removal()
        return self._untyped_storage.pin_memory(device)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """The memory on a GPU: an error, there is none."""
        _warn_typed_storage_removal()
        return self._untyped_storage.cuda(device, non_blocking)

    def cpu(self) -> Any:
        """The memory on the CPU: the same."""
        _warn_typed_storage_removal()
        return typed(self._untyped_storage, self._dtype)

    def to(self, *, device: Any, non_blocking: bool = False) -> Any:
        """The memory on a device: the same, if that is the CPU."""
        _warn_typed_storage_removal()
        return typed(self._untyped_storage.to(device=device), self._dtype)

    def clone(self) -> Any:
        """The same elements in memory of their own."""
        _warn_typed_storage_removal()
        return typed(self._untyped_storage.clone(), self._dtype)

    __copy__ = clone

    def _deepcopy(self, memo: dict) -> Any:
        from copy import deepcopy

        copied = memo[id(self)] = typed(deepcopy(self._untyped_storage, memo), self._dtype)
        return copied

    __deepcopy__ = _warning(_deepcopy)

    def __reduce__(self) -> tuple:
        return typed, (self._untyped_storage, self._dtype)

    # --- from elsewhere -------------------------------------------------------------------------

    @classmethod
    def from_buffer(cls, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """A copy of bytes that are elements of a dtype, as `UntypedStorage.from_buffer` has it."""
        _warn_typed_storage_removal()
        return cls._from_buffer(*args, dtype=dtype, **kwargs)

    @classmethod
    def _from_buffer(cls, *args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        wanted = dtype
        if cls is not TypedStorage:
            if dtype is not None:
                raise errors.runtime_error(
                    "from_buffer: 'dtype' can only be specified in UntypedStorage.from_buffer and "
                    "TypedStorage.from_buffer",
                    f"{cls.__name__} has a dtype.",
                )
            wanted = cls._dtype
        elif dtype is None:
            wanted = default()
        return typed(UntypedStorage.from_buffer(*args, dtype=wanted, **kwargs), wanted)

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> Any:
        """The first `size` elements of a file; writes go to it if it is `shared`."""
        _warn_typed_storage_removal()
        if cls is TypedStorage:
            text = "from_file can only be called on derived classes"
            raise errors.runtime_error(text, "torch.FloatStorage.from_file(...), for example.")
        n_bytes = size * cls._dtype.itemsize
        return typed(UntypedStorage.from_file(filename, shared, n_bytes), cls._dtype)


def typed(memory: UntypedStorage, dtype: Dtype) -> TypedStorage:
    """A storage of elements of `dtype` on memory."""
    return TypedStorage(wrap_storage=memory, dtype=dtype, _internal=True)


def _no_index(kind: type, x: object, index: object) -> Exception:
    error = kind(f"can't index a {type(x)} with {type(index)}")
    return errors.advised(error, "An index is an integer.")


def _known_device(device: Any) -> Any:
    found = as_device(device)
    if found.type not in ("cpu", "cuda", "meta"):
        text = f"torch.UntypedStorage(): Storage device not recognized: {found.type}"
        raise errors.runtime_error(text, "Storages are on the CPU: leave device= away.")
    return found


def _not_untyped(given: object) -> TypeError:
    return TypeError(f"Argument 'wrap_storage' must be UntypedStorage, but got {type(given)}")


def _memory(args: tuple, dtype: Dtype, error: Any) -> UntypedStorage:
    """The memory that a constructor asks for: of a number of elements, or of these."""
    if len(args) > 1:
        raise error("Too many positional arguments")
    given: Any = args[0] if args else 0
    if hasattr(given, "__index__") and not isinstance(given, tensor_base.TensorBase):
        return UntypedStorage(given * dtype.itemsize)
    if isinstance(given, str):
        raise errors.type_error("new(): invalid data type 'str'", "Pass numbers.")
    if isinstance(given, tensor_base.TensorBase) or not hasattr(given, "__getitem__"):
        raise error(TypeError(f"Argument type not recognized: {type(given)}"))
    return storage_of(array_of(list(given), dtype))


def _init_error(problem: Any) -> Exception:
    return _combination(
        "TypedStorage.__init__",
        "(*, torch.device device, torch.dtype dtype)",
        "(int size, *, torch.device device, torch.dtype dtype)",
        "(Sequence data, *, torch.device device, torch.dtype dtype)",
        "(*, UntypedStorage wrap_storage, torch.dtype dtype)",
        problem=problem,
    )


def _combination(name: str, *forms: str, problem: Any) -> Exception:
    kind = RuntimeError if isinstance(problem, str) else type(problem)
    text = "\n".join(f" * {form}" for form in forms)
    found = f"{name} received an invalid combination of arguments. Expected one of:\n{text}\n"
    return errors.advised(
        kind(found + str(problem)), "Compare what was given with the forms above."
    )


class _LegacyStorageMeta(type):
    """The class of `FloatStorage` and its like: every storage of their dtype is an instance."""

    _dtype: Dtype

    @property
    def dtype(cls) -> Dtype:
        """The type of the elements."""
        _warn_typed_storage_removal()
        return cls._dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is TypedStorage and instance._dtype is getattr(cls, "_dtype", None)


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """What makes storages of one dtype."""

    def __new__(cls, *args: Any, wrap_storage: Any = None, _internal: bool = False, **given: Any):
        if not _internal:
            _warn_typed_storage_removal()
        if cls is _LegacyStorage:
            text = "Only child classes of _LegacyStorage can be instantiated"
            raise errors.runtime_error(text, "torch.FloatStorage(...), for example.")
        for name in given:
            if name not in ("dtype", "device"):
                raise TypeError(
                    f"TypedStorage.__new__() got an unexpected keyword argument '{name}'"
                )
            raise cls._error(f"Keyword argument '{name}' cannot be specified")
        if wrap_storage is None:
            return typed(_memory(args, cls._dtype, cls._error), cls._dtype)
        if args:
            raise cls._error("No positional arguments should be given when using 'wrap_storage'")
        if not isinstance(wrap_storage, UntypedStorage):
            raise cls._error(_not_untyped(wrap_storage))
        return typed(wrap_storage, cls._dtype)

    @classmethod
    def _error(cls, problem: Any) -> Exception:
        return _combination(
            f"{cls}.__new__",
            "no arguments",
            "(int size)",
            "(Sequence data)",
            "(*, UntypedStorage wrap_storage)",
            problem=problem,
        )


_METHODS = {  # those that convert to a dtype
    "double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16",
    "long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8",
    "bool": "bool", "complex_double": "complex128", "complex_float": "complex64",
}  # fmt: skip
_NAMES = {BY_NAME[name]: f"{BY_NAME[name].scalar_name}Storage" for name in _METHODS.values()}


def _legacy(dtype: Dtype) -> Any:
    text = f"Makes storages of {dtype}: of a number of elements, or of a list of them."
    scope = {"_dtype": dtype, "__module__": "torch", "__doc__": text}
    return _LegacyStorageMeta(_NAMES[dtype], (_LegacyStorage,), scope)


LEGACY = {dtype: _legacy(dtype) for dtype in _NAMES}
"""dtype -> the class that makes its storages; the other dtypes have none."""

DoubleStorage, FloatStorage, HalfStorage, BFloat16Storage, *_others = LEGACY.values()
LongStorage, IntStorage, ShortStorage, CharStorage, ByteStorage, BoolStorage, *_others = _others
ComplexDoubleStorage, ComplexFloatStorage = _others
Storage = FloatStorage


def _dtype_to_storage_type_map() -> dict[Dtype, str]:
    """The name of the storage of each dtype that has one."""
    return dict(_NAMES)


def _storage_type_to_dtype_map() -> dict[str, Dtype]:
    """The dtype of each storage by its name."""
    return {name: dtype for dtype, name in _NAMES.items()}


def storage_class(dtype: Dtype) -> Any:
    """The class that makes storages of a dtype; an error for those that have none."""
    found = LEGACY.get(dtype)
    if found is None:
        advice = f"Storages of {dtype} are TypedStorage(dtype={dtype})."
        raise errors.advised(KeyError(dtype), advice)
    return found


def _cast(name: str) -> Any:
    dtype = BY_NAME[name]

    def cast(self: Any) -> TypedStorage:
        if isinstance(self, TypedStorage):
            _warn_typed_storage_removal()
            given = self._tensor()
        else:
            given = tensor_base.wrap(self.elements("u1"))
        found = given.to(dtype)
        array = found._array.copy() if found._array is given._array else found._array
        return typed(storage_of(array), dtype)

    cast.__doc__ = f"The elements as {dtype}, in memory of their own."
    return cast


for _method, _name in _METHODS.items():
    _function = _cast(_name)
    _function.__name__ = _function.__qualname__ = _method
    setattr(TypedStorage, _method, _function)
    setattr(UntypedStorage, _method, _function)

TypedStorage.__module__ = _LegacyStorage.__module__ = _LegacyStorageMeta.__module__ = (
    "torch.storage"
)


StorageBase = UntypedStorage

__torch__ = (
    "BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage "
    "DoubleStorage FloatStorage HalfStorage IntStorage LongStorage ShortStorage Storage "
    "StorageBase TypedStorage UntypedStorage"
)
