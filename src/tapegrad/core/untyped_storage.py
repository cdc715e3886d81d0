"""UntypedStorage: the memory that a tensor shares with its views, as bytes.

Tensors hold arrays, and an array the one that owns its memory: the storage of a tensor is found
from that owner, and is the same object for as long as somebody holds it.
"""

import gc
import mmap
import sys
from collections.abc import Iterator
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tapegrad.core import errors
from tapegrad.core.device import CPU, META, as_device, place, require_cpu
from tapegrad.core.meta_array import MetaArray, device_of, no_data, nowhere
from tapegrad.core.shared_map import SharedMap, share_map
from tapegrad.core.storage import address, elements_of, is_fixed, not_resizable, owner_of
from tapegrad.core.storage_follower import Freed, follow
from tapegrad.core.tensor_base import TensorBase


class FileMap(mmap.mmap):
    """A file in memory, with its name."""

    filename: str | None = None
    private = False


class UntypedStorage:
    """The memory of a tensor and of all views of it, as bytes.

    Writes are seen by the tensors, and their version counters do not count them.

    Args:
        data: how many bytes (default: none), or numbers from 0 to 255

    >>> x = torch.ones(2)
    >>> x.untyped_storage().nbytes()
    8
    >>> x[1:].untyped_storage() is x.untyped_storage()
    True
    """

    _bytes: np.ndarray

    def __init__(self, *data: Any, device: Any = None, allocator: Any = None):
        if len(data) > 1 or allocator is not None:
            keywords = {} if device is None else {"device": device}
            raise errors.invalid_combination("torch.UntypedStorage", data, keywords, _FORMS)
        array = _bytes_of(data[0] if data else 0)
        on_meta = place(CPU if device is None else device) is META
        self._own(nowhere(array.shape, np.uint8) if on_meta else array)

    def _own(self, array: Any) -> None:
        self._bytes = elements_of(array).view(np.uint8)
        _STORAGES[self._cdata] = self

    @property
    def _cdata(self) -> int:
        """A number that is the same for all tensors of this memory, and for no others."""
        return id(owner_of(self._bytes))

    # --- what it is -----------------------------------------------------------------------------

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return 0 if type(self._bytes) is MetaArray else address(self._bytes)

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._bytes.size

    size = __len__ = nbytes

    def element_size(self) -> int:
        """The bytes of an element: 1."""
        return 1

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return device_of(self._bytes)

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False

    def type(self, dtype: Any = None) -> str:
        """The name of its class: torch.storage.UntypedStorage."""
        if dtype is not None:
            raise errors.runtime_error(
                "an UntypedStorage has no other type", "TypedStorage(wrap_storage=...) has one."
            )
        return "torch.storage.UntypedStorage"

    def get_device(self) -> int:
        """The index of the GPU it is on; -1 for the CPU."""
        return -1

    @property
    def filename(self) -> str | None:
        """The file that the memory is, if writes go to it."""
        return getattr(_map_of(self._bytes), "filename", None)

    def is_shared(self) -> bool:
        """Whether other processes see what is written."""
        found = _map_of(self._bytes)
        return found is not None and not getattr(found, "private", False)

    def is_pinned(self, device: Any = "cuda") -> bool:
        """Whether a GPU can read the memory directly."""
        return False

    def resizable(self) -> bool:
        """Whether `resize_` works: not for memory of NumPy's, of a file, or that is shared."""
        return not is_fixed(self._bytes)

    # --- elements -------------------------------------------------------------------------------

    def elements(self, dtype: Any) -> np.ndarray:
        """The memory as elements of a dtype."""
        n = np.dtype(dtype).itemsize
        return self._bytes[: self._bytes.size // n * n].view(dtype)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return storage_of(self._bytes[_range(index, self.nbytes())].copy())
        if not hasattr(index, "__index__"):
            raise errors.type_error(
                f"can't index a torch.UntypedStorage with {errors.type_name(index)}",
                "An index is an integer or a slice.",
            )
        n = self.nbytes()
        if not -n <= index < n:
            raise errors.index_error(
                f"index {index} out of range for storage of size {n}", "The last one is -1."
            )
        return int(self._bytes[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, int):
            raise errors.runtime_error(
                "can only set storage content with a int types, but got "
                f"{errors.type_name(value)} instead",
                "A byte is an integer from 0 to 255.",
            )
        if isinstance(index, slice):
            self._bytes[_range(index, self.nbytes())] = value & 255
        elif not hasattr(index, "__index__"):
            raise errors.runtime_error(
                f"can't index a torch.UntypedStorage with {errors.type_name(index)}",
                "An index is an integer or a slice.",
            )
        elif not -self.nbytes() <= index < self.nbytes():
            raise errors.runtime_error("out of bounds", f"There are {self.nbytes()} bytes.")
        else:
            self._bytes[index] = value & 255

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return self._bytes.tolist()

    def fill_(self, value: int) -> "UntypedStorage":
        """Set every byte to the same number; of a larger one, its last eight bits."""
        if not isinstance(value, int):
            raise errors.runtime_error(
                f"fill_ expects int, but got {errors.type_name(value)}",
                "A byte is an integer from 0 to 255.",
            )
        self._bytes[...] = value & 255
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> "UntypedStorage":
        """Take the bytes of another storage of the same size."""
        untyped = getattr(source, "_untyped_storage", source)
        if not isinstance(untyped, UntypedStorage):
            raise errors.must_be("copy_", "src", 1, "torch.Storage", source)
        if untyped.nbytes() != self.nbytes():
            raise errors.runtime_error(
                f"size does not match, self was {self.nbytes()} bytes but src was "
                f"{untyped.nbytes()} bytes",
                "resize_() one of them first.",
            )
        self._bytes[...] = untyped._bytes
        return self

    def byteswap(self, dtype: Any) -> None:
        """Turn the bytes of each element around; of the parts of complex numbers, each alone."""
        size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        self.elements(f"u{size}").byteswap(inplace=True)

    # --- other memory ---------------------------------------------------------------------------

    def resize_(self, size: int) -> "UntypedStorage":
        """Another number of bytes; new ones are uninitialised. All tensors of the memory move.

        A tensor that reaches beyond the end raises when it is used, until there is room again.
        """
        if not hasattr(size, "__index__"):
            raise errors.runtime_error(
                f"resize_ expects an int, but got {errors.type_name(size)}", "Count bytes."
            )
        _check_size(size)
        if size == self.nbytes():
            return self
        if not self.resizable():
            raise not_resizable()
        array = np.empty(size, np.uint8)
        kept = min(size, self.nbytes())
        array[:kept] = self._bytes[:kept]
        self._move(array)
        return self

    def share_memory_(self) -> "UntypedStorage":
        """Move to memory that processes forked from now on share, with all tensors."""
        if not self.is_shared():
            self.move_to_shared_map()
        return self

    def move_to_shared_map(self) -> SharedMap:
        """Move to memory that other processes can be given, and give that."""
        shared = share_map(self.nbytes())
        array = np.frombuffer(shared, np.uint8, self.nbytes())
        array[...] = self._bytes
        self._move(array)
        return shared

    def map(self) -> mmap.mmap | None:
        """The map that the memory is in, if it is in one."""
        return _map_of(self._bytes)

    def _move(self, array: np.ndarray) -> None:
        """Let the storage, and every tensor of its memory, be on `array` from now on."""
        old = owner_of(self._bytes)
        _STORAGES.pop(id(old), None)
        self._own(array)
        moved: dict[int, Any] = {}
        for x in gc.get_objects():
            if issubclass(type(x), TensorBase):
                follow(x, old, self, moved)

    def pin_memory(self, device: Any = None) -> "UntypedStorage":
        """Memory that a GPU can read directly: an error, there is none."""
        raise errors.runtime_error(
            "Cannot access accelerator device when none is available.",
            "Pinned memory speeds up copies to a GPU: leave it out.",
        )

    def cuda(self, device: Any = None, non_blocking: bool = False) -> "UntypedStorage":
        """The memory on a GPU: an error, there is none."""
        require_cpu("cuda")
        return self

    def cpu(self) -> "UntypedStorage":
        """The memory on the CPU: where it is."""
        return self.to(device=CPU)

    def to(self, *, device: Any, non_blocking: bool = False) -> "UntypedStorage":
        """The memory on a device: this one, if it is there."""
        where = place(as_device(device)) or CPU
        if where is self.device:
            return self
        if where is CPU:
            raise no_data()
        return storage_of(nowhere((self.nbytes(),), np.uint8))

    def untyped(self) -> "UntypedStorage":
        """The storage itself, as typed ones give it."""
        return self

    def new(self) -> "UntypedStorage":
        """An empty storage."""
        return UntypedStorage()

    def clone(self) -> "UntypedStorage":
        """The same bytes in memory of their own."""
        return storage_of(self._bytes.copy())

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> "UntypedStorage":
        from copy import deepcopy

        copied = memo[id(self)] = storage_of(deepcopy(owner_of(self._bytes), memo))
        return copied

    def __reduce__(self) -> tuple:
        return storage_of, (self._bytes,)

    def __repr__(self) -> str:
        if type(self._bytes) is MetaArray:
            return f"...\n[torch.storage.UntypedStorage(device=meta) of size {len(self)}]"
        return (
            f"{lines(self.tolist())}[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"
        )

    # --- from elsewhere -------------------------------------------------------------------------

    @classmethod
    def from_buffer(
        cls,
        buffer: Any,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        *,
        dtype: Any = None,
    ) -> "UntypedStorage":
        """A copy of bytes that are elements of a dtype, in this machine's order afterwards.

        >>> torch.ShortStorage.from_buffer(b"\\x01\\x02", "big").tolist()
        [258]
        """
        return storage_of(_from_buffer(buffer, byte_order, count, offset, dtype))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> "UntypedStorage":
        """The first bytes of a file; writes go to it if it is `shared`, and make it if need be."""
        return storage_of(map_file(filename, shared, nbytes))


UntypedStorage.__module__ = "torch.storage"

_FORMS = (
    "*, int allocator = None, torch.device device = None",
    "int size, *, int allocator = None, torch.device device = None",
    "object sequence, *, int allocator = None, torch.device device = None",
)

_STORAGES: Any = WeakValueDictionary()
"""The storage of memory, by the id of the array that owns it: the storage keeps that alive."""


def storage_of(array: Any) -> UntypedStorage:
    """The storage of an array: the same one for all arrays of its memory."""
    if type(array) is Freed:
        return array.storage
    found = _STORAGES.get(id(owner_of(array)))
    if found is None:
        found = object.__new__(UntypedStorage)
        found._own(array)
    return found


def elements_given(x: Any, dtype: Any, text: str) -> np.ndarray | None:
    """The elements of a storage as a dtype; None for what is no storage.

    `text` is how an error begins and ends for a storage of another dtype, where {} is its name.
    """
    memory = getattr(x, "_untyped_storage", x)
    if not isinstance(memory, UntypedStorage):
        return None
    if memory is not x and x._dtype is not dtype:
        raise errors.runtime_error(
            text.format(x._dtype.scalar_name),
            f"untyped() has the same memory for any dtype: x.untyped(), or name dtype={x._dtype}.",
        )
    return memory.elements(dtype.numpy)


def lines(values: list) -> str:
    """Elements as storages print them, one to a line."""
    return " " + "\n ".join(map(str, values)) + "\n"


def map_file(filename: Any, shared: bool, n_bytes: int) -> np.ndarray:
    """The first bytes of a file as an array, which keeps the file mapped."""
    import os

    name = os.fspath(filename)
    if shared and sys.platform == "emscripten":  # its maps are copies, which are never written
        raise errors.runtime_error(
            f"file <{name}> cannot be shared: a browser does not map files into memory",
            "shared=False reads it; tensor.numpy().tofile(path) writes one.",
        )
    how = "read-write" if shared else "read-only"
    try:
        handle = os.open(name, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o600)
    except OSError as error:
        raise errors.runtime_error(
            f"unable to open file <{name}> in {how} mode: {error.strerror} ({error.errno})",
            "Check the path, and that it may be read.",
        ) from error
    try:
        size = os.fstat(handle).st_size
        if size < n_bytes:
            if not shared:
                raise errors.runtime_error(
                    f"file <{name}> size <{size}> is smaller than the required mapping size "
                    f"<{n_bytes}>",
                    "Ask for fewer elements; with shared=True the file grows.",
                )
            os.ftruncate(handle, n_bytes)
        if not n_bytes:
            return np.empty(0, np.uint8)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        mapped = FileMap(handle, n_bytes, access=access)
    finally:
        os.close(handle)
    mapped.filename, mapped.private = (name if shared else None), not shared
    return np.frombuffer(mapped, np.uint8)


def _map_of(array: np.ndarray) -> mmap.mmap | None:
    """The mapping that memory is, if it is one."""
    base = getattr(owner_of(array), "base", None)
    found = getattr(base, "obj", base)
    return found if isinstance(found, mmap.mmap) else None


def _bytes_of(data: Any) -> np.ndarray:
    """What the constructor takes: how many bytes, or those."""
    if hasattr(data, "__index__") and not isinstance(data, (TensorBase, np.ndarray)):
        _check_size(data)
        return np.empty(data, np.uint8)
    if isinstance(data, TensorBase) or not hasattr(data, "__getitem__"):
        raise errors.runtime_error(
            f"torch.UntypedStorage(): Expected a sequence type, but got {errors.type_name(data)}",
            "Pass a number of bytes, or a list of bytes.",
        )
    for each in data:
        if not isinstance(each, int):
            kind = errors.type_name(each)
            raise errors.runtime_error(
                "torch.UntypedStorage(): tried to construct a storage from a sequence "
                f"({errors.type_name(data)}), but one of the items was of type {kind} instead of "
                "int",
                "A byte is an integer from 0 to 255.",
            )
    return np.array([each & 255 for each in data], np.uint8)


def _check_size(n_bytes: int) -> None:
    if n_bytes < 0:
        raise errors.runtime_error(
            "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to "
            f"have been called with negative number: {2**64 + int(n_bytes)}",
            "A size is 0, or larger: it counts bytes.",
        )


def _range(index: slice, n: int) -> slice:
    start, stop, step = index.indices(n)
    if step != 1:
        raise errors.runtime_error(
            f"Trying to slice with a step of {step}, but only a step of 1 is supported",
            "tolist() gives a list, which has other steps, too.",
        )
    return slice(start, max(start, stop))


def _from_buffer(buffer: Any, order: Any, count: int, offset: int, dtype: Any) -> np.ndarray:
    if dtype is None:
        raise errors.runtime_error("argument 'dtype' cannot be None", "Pass dtype=torch.uint8.")
    size = dtype.itemsize
    part = size // 2 if dtype.is_complex else size
    if part > 1 and order is None:
        raise errors.runtime_error(
            "function missing required argument 'byte_order' (pos 2)",
            "Pass 'little', 'big' or 'native'.",
        )
    if order not in (None, "big", "little", "native"):
        raise errors.value_error(
            f"invalid byte_order '{order}' (expected 'big', 'little', or 'native')",
            "'native' is this machine's.",
        )
    given = np.frombuffer(memoryview(buffer).cast("B"), np.uint8)
    if not 0 <= offset <= given.size:
        raise errors.value_error(
            f"offset must be non-negative and no greater than buffer length ({offset}) , but got "
            f"{given.size}",
            f"The buffer has {given.size} bytes.",
        )
    left = given.size - offset
    if count < 0:
        if left % size:
            raise errors.value_error(
                f"buffer size ({left}) must be a multiple of element size ({size})",
                "Say how many elements to take: count=.",
            )
        count = left // size
    elif count * size > left:
        raise errors.value_error(
            f"buffer has only {left // size} elements after offset {offset}, but specified a size "
            f"of {count}",
            "Ask for fewer.",
        )
    taken = given[offset : offset + count * size].copy()
    if dtype.name == "bool":
        return (taken != 0).view(np.uint8)
    if order == "big" and part > 1:
        taken.view(f"u{part}").byteswap(inplace=True)
    return taken
