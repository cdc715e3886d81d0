"""`save`: tensors and containers in PyTorch's file format."""

import io
import os
import pickle
import sys
import zlib
from collections import OrderedDict
from types import FunctionType
from typing import Any

import numpy as np

from tapegrad.core.conj_neg_view import memory_of, signs_of
from tapegrad.core.device import device
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.errors import advised, runtime_error, type_error
from tapegrad.core.memory_format import layout, memory_format, sparse_csc
from tapegrad.core.size import Size
from tapegrad.core.storage import elements_of, offset_of, owner_of, row_major
from tapegrad.core.tensor_base import SHARDED
from tapegrad.core.torch_dispatch import array_of, dispatches
from tapegrad.core.untyped_storage import UntypedStorage
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.typed_storage import TypedStorage
from tapegrad.serialization import rebuild
from tapegrad.serialization.archive import writing
from tapegrad.serialization.names import GLOBALS, STORAGE_TYPES, UNTYPED, StorageType
from tapegrad.serialization.replacement import replacing
from tapegrad.serialization.skip_data import SKIPPED
from tapegrad.tensors.copy_pickle import state_of
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.hooks import warn_if_has_hooks

DEFAULT_PROTOCOL = 2


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write tensors, and containers of them, to `f`: a file that PyTorch's `load` opens too.

    A file at a path is replaced when all is written: a crash meanwhile leaves the old one whole,
    and so does an error. Links, permissions and the owner stay as they are. A file with hard links,
    access lists or another owner, or in a folder that is not to be written, is written in place:
    there, a crash leaves it torn.

    Tensors that share memory share it again when loaded; the whole memory is written, also of a
    small view of it: clone() the view to leave the rest out. History and gradients stay behind.

    Args:
        obj: tensors, parameters, state_dicts, layers, numbers, strings, and containers of these
        f: path, or file open for writing
        pickle_module: whose `Pickler` says what other objects are made of: `pickle`, `cloudpickle`
        pickle_protocol: from 2 to 5; PyTorch's `weights_only=True` reads 2

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.nn.Linear(2, 1).state_dict(), file)
    >>> file.seek(0)
    0
    >>> sorted(torch.load(file))
    ['bias', 'weight']
    """
    if not _use_new_zipfile_serialization:
        if SKIPPED.get():
            raise advised(
                RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False"),
                "Leave out _use_new_zipfile_serialization.",
            )
        raise NotImplementedError(
            "save(_use_new_zipfile_serialization=False) is not supported: the format of PyTorch "
            "before 1.6 is read and not written"
        )
    if sys.byteorder != "little":
        raise NotImplementedError("save() on a big-endian machine is not supported")
    is_path = isinstance(f, (str, os.PathLike))
    if not is_path and not hasattr(f, "write"):
        raise advised(
            AttributeError(
                "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
            ),
            "Pass a path, or a file open with mode 'wb'.",
        )
    records = _records(obj, pickle_module, pickle_protocol, not _disable_byteorder_record)
    if is_path:
        name = os.path.splitext(os.path.basename(os.fspath(f)))[0]
        with replacing(f) as file:
            _write(file, name or "archive", records)
    else:
        _write(f, "archive", records)


def _records(obj: object, module: Any, protocol: int, with_byteorder: bool) -> dict[str, Any]:
    """The records of the archive: name -> bytes."""
    stream = io.BytesIO()
    pickler = TensorPickler(stream, protocol, _reducing(module, protocol))
    pickler.dump(obj)
    records: dict[str, Any] = {"data.pkl": stream.getvalue()}
    if with_byteorder:
        records["byteorder"] = b"little"
    for key, elements in pickler.storages.items():
        if SKIPPED.get():
            elements = np.zeros(elements.nbytes, np.uint8)
        records[f"data/{key}"] = memoryview(elements.view(np.uint8))  # type: ignore[arg-type]
    records["version"] = b"3\n"
    records[".data/serialization_id"] = _identity(records)
    return records


def _identity(records: dict[str, Any]) -> bytes:
    """40 digits that are the same for the same records: 20 of the names, 20 of the bytes."""
    names, content = 0, 0
    for name, data in records.items():
        names = zlib.crc32(name.encode(), names)
        content = zlib.crc32(data, content)
    return b"%020d%020d" % (names, content)


def _write(file: Any, name: str, records: dict[str, Any]) -> None:
    with writing(file, name) as archive:
        for record, data in records.items():
            archive.add(record, data)


_Pickler: Any = pickle._Pickler


def _reducing(module: Any, protocol: int) -> Any:
    """A pickler of `pickle_module`, asked what objects are made of; None for Python's own."""
    kind = module.Pickler
    if kind in (pickle.Pickler, pickle._Pickler):
        return None
    if not issubclass(kind, pickle.Pickler):
        raise NotImplementedError(
            f"save(pickle_module={module.__name__}) is not supported: tapegrad asks a Pickler for "
            "reducer_override and dispatch_table, as cloudpickle has them, and this one writes "
            "by itself"
        )
    return kind(io.BytesIO(), protocol=protocol)


class TensorPickler(_Pickler):
    """Python's own pickler, with PyTorch's names for what PyTorch has, and memory kept apart.

    The one in C would look these names up, and so import PyTorch where that is installed.
    """

    def __init__(self, stream: Any, protocol: int, reducing: Any = None) -> None:
        super().__init__(stream, protocol)
        self._reducing = getattr(reducing, "reducer_override", None)
        if hasattr(reducing, "dispatch_table"):
            self.dispatch_table = reducing.dispatch_table
        self.storages: dict[str, np.ndarray] = {}
        self._keys: dict[int, str] = {}
        self._types: dict[int, StorageType] = {}
        self._owners: list[np.ndarray] = []  # so that no other array takes their id

    # -------------------------------------------------------------------------------------- memory

    def persistent_id(self, obj: Any) -> Any:
        """What stands for memory in the pickle."""
        kind = type(obj)
        if kind is _Memory:
            return self._describe(obj.array, obj.type)
        if kind is UntypedStorage:
            return self._describe(obj.elements("u1"), UNTYPED)
        if kind is TypedStorage:
            dtype, memory = obj._dtype, obj._untyped_storage
            return self._describe(memory.elements(dtype.numpy), STORAGE_TYPES[dtype])
        return None

    def _describe(self, array: np.ndarray, kind: StorageType) -> tuple:
        owner = owner_of(array)
        key = self._keys.get(id(owner))
        elements = elements_of(array)
        if key is None:
            key = self._keys[id(owner)] = str(len(self._keys))
            self._owners.append(owner)
            self._types[id(owner)] = kind
            self.storages[key] = elements
        elif kind is not self._types[id(owner)]:
            raise runtime_error(
                "Cannot save multiple tensors or storages that view the same data as "
                "different types",
                "clone() one of them.",
            )
        n = elements.nbytes if kind is UNTYPED else elements.size
        return "storage", kind, key, "cpu", n

    # ------------------------------------------------------------------------------------- objects

    def reducer_override(self, obj: Any) -> Any:
        """What an object of ours is made of, as PyTorch says it."""
        if isinstance(obj, Tensor):
            if obj._backward_hooks and not isinstance(obj, Parameter):
                warn_if_has_hooks(obj)
            return _reduced(obj)
        kind = type(obj)
        if kind is Dtype or kind is StorageType:
            return obj.name
        if kind is Size:
            return Size, (tuple(obj),)
        if kind is device:
            return device, (obj.type,) if obj.index is None else (obj.type, obj.index)
        if kind is layout:
            return rebuild.get_layout, (repr(obj),)
        if kind is memory_format:
            raise type_error(
                "cannot pickle 'torch.memory_format' object",
                "Save its name: str(torch.channels_last).",
            )
        return NotImplemented if self._reducing is None else self._reducing(obj)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """A class or function by its name, which is PyTorch's if PyTorch has it."""
        known = _known_name(obj) or _name_without_import(obj)
        if known is None:
            if "<locals>" in getattr(obj, "__qualname__", ""):
                raise advised(
                    AttributeError(f"Can't pickle local object {obj.__qualname__!r}"),
                    "Only what a module has at its top level can be found again by its name.",
                )
            super().save_global(obj, name)
            return
        module, name = known
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    dispatch = {**_Pickler.dispatch, FunctionType: save_global}  # noqa: RUF012


class _Memory:
    """The memory of an array, to be pickled as a storage of a type."""

    __slots__ = ("array", "type")

    def __init__(self, array: np.ndarray, type: StorageType) -> None:
        self.array, self.type = array, type


_NAMES: dict[int, Any] = {
    id(found): name.rsplit(".", 1)
    for name, found in GLOBALS.items()
    if name.startswith("torch.") and "cuda" not in name
}


def _known_name(obj: object) -> tuple[str, str] | None:
    """Module and name of what PyTorch has too; None for other objects."""
    found = _NAMES.get(id(obj))
    if found is None and isinstance(obj, type) and obj.__module__.startswith("tapegrad.nn."):
        from tapegrad import nn

        name = obj.__name__
        if vars(nn).get(name) is obj:
            return "torch.nn", name
    if isinstance(obj, FunctionType) and obj.__module__.startswith("tapegrad."):
        from tapegrad.nn import functional

        name = obj.__name__
        if vars(functional).get(name) is obj:
            return "torch.nn.functional", name
    return found


def _name_without_import(obj: object) -> tuple[str, str] | None:
    """The name of what is ours and calls itself PyTorch's, which must not be imported for it."""
    module, name = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
    if not isinstance(module, str) or module.partition(".")[0] != "torch" or name is None:
        return None
    return None if getattr(sys.modules.get(module), name, None) is obj else (module, name)


def _reduced(x: Tensor) -> tuple:
    """A tensor as a call of one of PyTorch's functions."""
    state = state_of(x)
    if x.is_sparse:
        parts = (x._indices(), x._values(), x.shape, x.is_coalesced())
        return rebuild.rebuild_sparse_tensor, (x.layout, parts)
    if x.is_sparse_csr:
        by_rows = (x.crow_indices(), x.col_indices(), x.values().detach(), x.shape)
        return rebuild.rebuild_sparse_tensor, (x.layout, by_rows)
    if x.layout is sparse_csc:
        by_columns = (x.ccol_indices(), x.row_indices(), x.values().detach(), x.shape)
        return rebuild.rebuild_sparse_tensor, (x.layout, by_columns)
    kind = type(x)
    if kind in SHARDED:
        return x.__reduce_ex__(DEFAULT_PROTOCOL)
    if isinstance(x, Parameter) and kind is Parameter:
        data = x.data
        if state:
            return (
                rebuild.rebuild_parameter_with_state,
                (data, x.requires_grad, OrderedDict(), state),
            )
        return rebuild.rebuild_parameter, (data, x.requires_grad, OrderedDict())
    if dispatches(kind) and array_of(x).inside is None:
        where = (tuple(x.shape), x.stride(), x.storage_offset(), x.layout, x.device)
        made = (kind, x.dtype, *where, x.requires_grad)
        return rebuild.rebuild_from_type, (rebuild.rebuild_wrapper_subclass, kind, made, state)
    function, args = _of_memory(x)
    if state or kind is not Tensor:
        return rebuild.rebuild_from_type, (function, kind, args, state)
    return function, args


def _of_memory(x: Tensor) -> tuple:
    if x.is_meta:
        size, stride = tuple(x.shape), x.stride()
        return rebuild.rebuild_meta_tensor, (x.dtype, size, stride, x.requires_grad)
    read: Any = array_of(x)
    read = read.inside if dispatches(type(x)) else read
    array, stride = memory_of(read), x.stride()
    if any(step < 0 or step % array.itemsize for step in array.strides):
        array = np.ascontiguousarray(array)  # PyTorch has no such views
        stride = row_major(array.shape)
    memory = _Memory(array, STORAGE_TYPES.get(x.dtype, UNTYPED))
    args: tuple = (memory, offset_of(array), array.shape, stride, x.requires_grad, OrderedDict())
    signs = signs_of(read)
    if memory.type is UNTYPED:
        args = (*args, x.dtype)
        return rebuild.rebuild_tensor_v3, (*args, signs) if signs else args
    return rebuild.rebuild_tensor_v2, (*args, signs) if signs else args
