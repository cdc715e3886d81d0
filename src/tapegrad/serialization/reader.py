"""`load`: what a `.pt` file holds, without running what is in it, unless it is trusted."""

import os
import pickle
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pickle import UnpicklingError
from typing import Any, TypeAlias

import numpy as np

from tapegrad.core.device import device
from tapegrad.core.errors import advised, not_implemented, runtime_error, type_error
from tapegrad.core.untyped_storage import UntypedStorage, storage_of
from tapegrad.operators.creation.typed_storage import typed
from tapegrad.serialization.allowed import Allowed
from tapegrad.serialization.archive import Archive
from tapegrad.serialization.machine import Machine
from tapegrad.serialization.message import malformed, unsupported
from tapegrad.serialization.names import StorageType
from tapegrad.serialization.options import LoadEndianness, get_default_load_endianness
from tapegrad.serialization.rebuild import is_int64
from tapegrad.serialization.unpickler import TrustedMachine

MAP_LOCATION: TypeAlias = (
    Callable[[UntypedStorage, str], UntypedStorage] | device | str | dict | None
)
"""Where tensors of a file go: see `load`."""


def placer(map_location: Any) -> Callable[[UntypedStorage, str], UntypedStorage]:
    """The function that puts memory with a place's name where `map_location` wants it."""
    if map_location is None:
        return _put
    if isinstance(map_location, (str, device)):
        name = str(map_location)
        return lambda storage, location: _put(storage, name)
    if isinstance(map_location, dict):
        return lambda storage, location: _put(storage, map_location.get(location, location))
    if not callable(map_location):
        raise type_error(
            f"'{type(map_location).__name__}' object is not callable",
            "map_location is a device, its name, a dict of names, or a function.",
        )

    def put(storage: UntypedStorage, location: str) -> UntypedStorage:
        found = map_location(storage, location)
        if found is None:
            return _put(storage, location)
        if type(found) is not UntypedStorage:
            raise type_error(
                f"map_location gave a {type(found).__name__}, not an UntypedStorage",
                "Return the storage that was given, or None.",
            )
        return found

    return put


def _put(storage: UntypedStorage, location: Any) -> UntypedStorage:
    if location == "cpu":
        return storage
    name = str(location)
    advice = "Pass map_location='cpu'."
    if name.startswith("cuda"):
        raise runtime_error(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() "
            "is False. If you are running on a CPU-only machine, please use torch.load with "
            "map_location=torch.device('cpu') to map your storages to the CPU.",
            advice,
        )
    if name == "meta":
        return storage.to(device="meta")
    raise runtime_error(
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged "
        f"with {name})",
        advice,
    )


# What objects may take beside the file's tensors: with these, at most twice the file and 64 MB, of
# which the rest is for what Python and NumPy need around them.
_OBJECT_BYTES = 40 << 20
_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001


def load_legacy(file: Any, trusted: Any, put: Any, encoding: str) -> Any:
    """What a file in the old format holds."""
    data = file.read()
    if not data:
        raise advised(EOFError("Ran out of input"), "The file is empty.")
    storages = _Storages(put, len(data))
    machine = _machine(data, storages, trusted, encoding, _OBJECT_BYTES)
    # Numbers that begin every file, before anything else is looked at.
    if data[:2] != b"\x80\x02" or not _is_number(machine.run(), _MAGIC):
        raise runtime_error(
            "Invalid magic number; corrupt file?",
            "This is no file of torch.save: a zip archive, or the older format, begins otherwise.",
        )
    version = machine.run()
    if not _is_number(version, _PROTOCOL):
        shown = version if is_int64(version) else type(version).__name__
        raise RuntimeError(f"Invalid protocol version: {shown}")
    system = machine.run()
    if type(system) is not dict or system.get("little_endian") is not True:
        raise runtime_error(
            "the file's byte order is not little-endian",
            "tapegrad reads files that were written on little-endian machines.",
        )
    found = machine.run()
    storages.fill(machine.run(), machine)
    return found


_STORAGE_BYTES = 900  # of the objects around the memory


def _is_number(x: object, n: int) -> bool:
    return type(x) is int and x == n


class _Storages:
    """The memory that the pickle refers to: made at once, filled from what follows the pickles."""

    def __init__(self, put: Any, limit: int) -> None:
        self.spend: Callable[[int], None] = lambda n: None  # raises where that is too much memory
        self._put = put
        self._left = limit  # bytes: together they are no more than the file
        self._arrays: dict[str, np.ndarray] = {}
        self._storages: dict[str, UntypedStorage] = {}

    def get(self, given: Any) -> Any:
        """The storage meant by a persistent id."""
        kind, key, location, numel = checked_id(given, 6)
        if given[5] is not None:
            raise not_implemented(
                "the file describes views of storages, as PyTorch 0.3 did",
                "Load it with PyTorch and save it again.",
            )
        itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
        storage = self._storages.get(key)
        if storage is None:
            self._left -= numel * itemsize
            if self._left < 0:
                raise malformed("the storages are larger than the file")
            self.spend(_STORAGE_BYTES)
            array = np.zeros(numel, "u1" if kind.dtype is None else kind.dtype.numpy)
            self._arrays[key] = array
            storage = self._storages[key] = self._put(storage_of(array), location)
        elif storage.nbytes() != numel * itemsize:
            raise malformed("a storage has two sizes")
        return storage if kind.dtype is None else typed(storage, kind.dtype)

    def fill(self, keys: Any, machine: Machine | TrustedMachine) -> None:
        """Read the memory: for each key a count of elements, and those."""
        is_list = type(keys) is list and all(type(key) is str for key in keys)
        if not is_list or sorted(keys) != sorted(self._arrays):
            raise malformed("the list of storages does not name those of the tensors")
        for key in keys:
            array = self._arrays[key]
            n = machine.number("<q", 8)
            if n != array.size:
                raise malformed(f"a storage has {n} elements, and {array.size} were announced")
            machine.take_into(memoryview(array.view(np.uint8)))  # type: ignore[arg-type]


ZIP = b"PK\x03\x04"


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """What `save`, of tapegrad or PyTorch, has written to `f`, a path or a file open for reading.

    Runs no code of the file, as long as `weights_only` is not False: it may hold tensors,
    parameters, containers, numbers, strings, dtypes, devices and sizes, and what
    `torch.serialization.add_safe_globals` allows. Tensors that shared memory share it again.

    What it makes takes twice the file and 64 MB at most, or 32 bytes for each byte of the file's
    pickle and directory where that is more, as only millions of Python objects need. A file that
    would take more is refused; a tensor of few numbers seen many times stays one.

    Args:
        f: path, or file that can seek
        map_location: where tensors go that were elsewhere: "cpu"; a dict from place to place; or
            a function of storage and place
        weights_only: False lets Python's unpickler read the file, which imports and calls whatever
            it names: whole modules, optimisers, objects of your own. Only for files of a source
            that you trust: such a file can run any code. None is True, or False where there is a
            `pickle_module`
        pickle_module: whose `Unpickler` reads a trusted file; by default `pickle`
        mmap: leave the tensors in the file until they are used; `f` must be a path
        pickle_load_args: `encoding` of the strings of Python 2

    Raises:
        pickle.UnpicklingError: the file names what is not allowed, its pickle is damaged, or what
            it makes is out of proportion
        RuntimeError: the archive is damaged, or a tensor would reach beyond its memory;
            NotImplementedError, which is one, for what tapegrad does not read
        EOFError: the file is empty
        OSError: the file cannot be read

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2)}, file)
    >>> torch.load(io.BytesIO(file.getvalue()))
    {'weight': tensor([1., 1.])}
    """
    trusted = _trusted(weights_only, pickle_module)
    encoding = pickle_load_args.pop("encoding", "utf-8")
    if pickle_load_args:
        raise TypeError(f"load() got an unexpected keyword argument {next(iter(pickle_load_args))}")
    put = placer(map_location)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    with opened(f) as file:
        start = file.tell()
        first = file.read(len(ZIP))
        if not isinstance(first, bytes):
            raise type_error("must be str, not bytes", "Open the file with mode 'rb'.")
        file.seek(start)
        if first == ZIP:
            return _load_archive(Archive(file), trusted, put, bool(mmap), encoding)
        if mmap:
            raise RuntimeError(
                "mmap can only be used with files saved with "
                f"`torch.save({f}, _use_new_zipfile_serialization=True), "
                "please torch.save your checkpoint with this option in order to use mmap."
            )
        return load_legacy(file, trusted, put, encoding)


def _trusted(weights_only: bool | None, pickle_module: Any) -> Any:
    """The module whose unpickler reads the file, or None where nothing of it may be run."""
    if _is_set("TORCH_FORCE_WEIGHTS_ONLY_LOAD"):
        weights_only = True
    elif weights_only is None:
        forced = _is_set("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
        if forced:
            warnings.warn(
                "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the"
                "`weights_only` argument was not explicitly passed to `torch.load`, forcing "
                "weights_only=False.",
                UserWarning,
                stacklevel=3,
            )
        weights_only = pickle_module is None and not forced
    if not weights_only:
        return pickle if pickle_module is None else pickle_module
    if pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    return None


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0") in ("1", "y", "yes", "true")


def _machine(
    data: bytes, storages: Any, trusted: Any, encoding: str, limit: int
) -> Machine | TrustedMachine:
    """What runs the pickles in `data`."""
    if trusted is not None:
        return TrustedMachine(data, storages.get, encoding, trusted)
    allowed = Allowed()
    machine = Machine(
        data, allowed.find, allowed.call, allowed.build, storages.get, encoding, limit
    )
    allowed.spend = storages.spend = machine.spend
    return machine


@contextmanager
def opened(f: Any) -> Any:
    """A file to read, of a path or of one that is open."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            yield file
        return
    for name in ("seek", "tell", "read"):
        if not hasattr(f, name):
            raise AttributeError(
                f"'{type(f).__name__}' object has no attribute '{name}'. You can only torch.load "
                "from a file that is seekable. Please pre-load the data into a buffer like "
                "io.BytesIO and try to load from it instead."
            )
    yield f


def _load_archive(archive: Archive, trusted: Any, put: Any, mapped: bool, encoding: str) -> Any:
    if "constants.pkl" in archive:
        raise runtime_error(
            "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. ",
            "tapegrad does not run TorchScript: save the state_dict() of the model instead.",
        )
    if "byteorder" in archive and archive.read("byteorder") != b"little":
        raise runtime_error(
            f"the file's byte order is {archive.read('byteorder')[:20]!r}",
            "tapegrad reads files that were written on little-endian machines.",
        )
    if "byteorder" not in archive and get_default_load_endianness() is LoadEndianness.BIG:
        raise runtime_error(
            "the file names no byte order, and LoadEndianness.BIG is set",
            "tapegrad reads files that were written on little-endian machines.",
        )
    storages = ArchiveStorages(archive, put, mapped)
    limit = archive.file_size + _OBJECT_BYTES
    return _machine(archive.read("data.pkl"), storages, trusted, encoding, limit).run()


class ArchiveStorages:
    """The memory that the pickle of an archive refers to; each record is read once."""

    def __init__(self, archive: Archive, put: Any, mapped: bool) -> None:
        self.spend: Callable[[int], None] = lambda n: None  # raises where that is too much memory
        self._archive = archive
        self._put = put
        self._mapped = mapped
        self._loaded: dict[str, UntypedStorage] = {}

    def get(self, given: Any) -> Any:
        """The storage meant by a persistent id."""
        kind, key, location, numel = checked_id(given, 5)
        itemsize = 1 if kind.dtype is None else kind.dtype.itemsize
        storage = self._loaded.get(key)
        if storage is None:
            storage = self._loaded[key] = self._read(kind, key, location, numel * itemsize)
        elif storage.nbytes() != numel * itemsize:
            raise _wrong_size(storage.nbytes(), numel * itemsize)
        return storage if kind.dtype is None else typed(storage, kind.dtype)

    def _read(self, kind: StorageType, key: str, location: str, n: int) -> UntypedStorage:
        record = f"data/{key}"
        dtype = "u1" if kind.dtype is None else kind.dtype.numpy
        size = self._archive.size(record)
        if size != n:
            raise _wrong_size(size, n)
        self.spend(_STORAGE_BYTES)
        read = self._archive.mapped if self._mapped else self._archive.array
        return self._put(storage_of(read(record, dtype)), location)


def checked_id(given: Any, length: int) -> tuple[StorageType, str, str, int]:
    """The type, key, place and length of a storage, as a persistent id of that length says."""
    if type(given) is not tuple or not given or not _is_text(given[0], "storage"):
        raise unsupported(
            f"Only persistent_load of storage is allowed, but got {_first_type(given)}"
        )
    if len(given) != length:
        raise malformed(f"a storage is described by {len(given)} values, not {length}")
    kind, key, location, numel = given[1:5]
    if type(kind) is not StorageType or type(key) is not str or type(location) is not str:
        raise malformed("a storage is described by values of the wrong types")
    if not is_int64(numel) or numel < 0:
        raise malformed("the number of elements of a storage is none")
    return kind, key, location, numel


def _is_text(x: object, text: str) -> bool:
    return type(x) is str and x == text


def _first_type(given: Any) -> Any:
    return type(given[0]) if type(given) is tuple and given else type(given)


def _wrong_size(found: int, expected: int) -> RuntimeError:
    return runtime_error(
        f"record size ({found} bytes) does not match expected size ({expected} bytes = "
        f"{expected} elements * 1 bytes/element) for dtype Byte",
        "The file was altered after it was saved: get it again.",
    )


class _Stand:
    """Takes the place of everything that the file would make with a call."""

    def append(self, x: Any) -> None:
        """Nothing."""

    extend = add = append

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __len__(self) -> int:
        return 0


class _Looker(Machine):
    def top(self, kind: Any) -> Any:
        if self.stack and type(self.stack[-1]) is _Stand:
            return self.stack[-1]
        return super().top(kind)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names of classes and functions in a file that `load` would refuse; nothing is made.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({1: torch.nn.Linear, 2: torch.ones(2)}, file)
    >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
    ['torch.nn.Linear']
    """
    allowed = Allowed()
    refused: dict[str, None] = {}

    def find(module: str, name: str) -> Any:
        try:
            allowed.find(module, name)
        except UnpicklingError:
            refused[f"{module}.{name}"] = None
        return _Stand()

    with opened(f) as file:
        file.seek(0)
        if file.read(len(ZIP)) != ZIP:
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        archive = Archive(file)
        data = archive.read("data.pkl")

    def stand(*given: Any) -> _Stand:
        return _Stand()

    def build(found: Any, state: Any) -> None:
        """States are not looked at."""

    limit = archive.file_size + _OBJECT_BYTES
    _Looker(data, find, stand, build, stand, limit=limit).run()
    return list(refused)
