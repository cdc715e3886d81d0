"""The file `.metadata` of a checkpoint: a pickle that PyTorch reads and writes as well.

It is read by the machine of `serialization`, which calls nothing but the classes of `metadata`.
"""

import io
import os
from enum import Enum

from tapegrad.core.annotations import Any
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.size import Size
from tapegrad.distributed.checkpoint import metadata as md
from tapegrad.serialization import rebuild
from tapegrad.serialization.machine import Machine
from tapegrad.serialization.message import malformed, refused_global
from tapegrad.serialization.replacement import replacing
from tapegrad.serialization.writer import TensorPickler

NAME = ".metadata"

_CLASSES = {
    f"{each.__module__}.{each.__qualname__}": each
    for each in (
        md.ChunkStorageMetadata,
        md.TensorProperties,
        md.TensorStorageMetadata,
        md.BytesStorageMetadata,
        md.MetadataIndex,
        md.StorageMeta,
        md.Metadata,
        md._StorageInfo,
    )
}


def _path(*parts: str) -> str:
    return os.path.join(*parts)


def _size(*args: Any) -> Size:
    if len(args) != 1 or not isinstance(args[0], (tuple, list)):
        raise malformed("a Size is made of something that is no tuple")
    if not all(type(n) is int for n in args[0]):
        raise malformed("a Size is made of something that is no integer")
    return Size(args[0])


def _encoding(*args: Any) -> Any:
    try:
        return md._MEM_FORMAT_ENCODING(*args)
    except (TypeError, ValueError) as error:
        raise malformed("a memory format that there is not") from error


def _layout(*args: Any) -> Any:
    return rebuild.get_layout(*args)


_CALLS = {
    "torch.Size": _size,
    "torch.serialization._get_layout": _layout,
    "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING": _encoding,
    "pathlib.PosixPath": _path,
    "pathlib.WindowsPath": _path,
    "pathlib._local.PosixPath": _path,
    "pathlib._local.WindowsPath": _path,
}
_FOUND = {**_CLASSES, **_CALLS, **{f"torch.{name}": dtype for name, dtype in BY_NAME.items()}}
_OBJECT_BYTES = 400


def write(path: str, manifest: md.Metadata) -> None:
    """Put a manifest in the place of the one that is there, in one step."""
    stream = io.BytesIO()
    TensorPickler(stream, 4).dump(manifest)
    with replacing(path) as file:
        file.write(stream.getvalue())


def read(path: str) -> md.Metadata:
    """The manifest of a checkpoint.

    Raises: pickle.UnpicklingError where it names anything else than a manifest has.
    """
    with open(path, "rb") as file:
        data = file.read()
    machine: Any = None

    def find(module: str, name: str) -> Any:
        full = f"{module}.{name}"
        if full not in _FOUND:
            raise refused_global(full)
        return _FOUND[full]

    def call(function: Any, args: tuple, new: bool = False) -> Any:
        machine.spend(_OBJECT_BYTES)
        if isinstance(function, type) and function in _CLASSES.values() and not args and new:
            return object.__new__(function)
        if not new and any(function is each for each in _CALLS.values()):
            return function(*args)
        raise malformed("the manifest calls what cannot be called")

    def build(found: Any, state: Any) -> None:
        kind = type(found)
        if kind is md.TensorProperties:
            is_known = type(state) is tuple and len(state) == 5
            if not is_known or type(state[3]) is not md._MEM_FORMAT_ENCODING:
                raise malformed("the manifest has a tensor that is none")
            found.__setstate__(state)
            return
        fields = getattr(kind, "__dataclass_fields__", {})
        if isinstance(found, Enum) or type(state) is not dict or not state.keys() <= fields.keys():
            raise malformed(f"the manifest gives a {kind.__name__} the state of something else")
        found.__dict__.update(state)

    machine = Machine(data, find, call, build, lambda key: find("", str(key)))
    manifest = machine.run()
    if type(manifest) is not md.Metadata or type(manifest.state_dict_metadata) is not dict:
        raise malformed(f"{path} is no manifest of a checkpoint")
    return manifest
