"""A checkpoint in a folder: `.metadata`, the manifest, and a file of each rank beside it.

    .metadata           written last, in one step: what it does not name is not part of the whole
    __3_1.distcp        the parts that rank 3 has written, each as `torch.save` writes one tensor

Files are never written over: the number after the rank is one that the manifest of before does not
use. So the folder always has a whole checkpoint, the one before or the new one, whenever a process
is killed; what the manifest does not name goes when the next one is there.
"""

import io
import os
import re
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future

from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.errors import advised, not_implemented, runtime_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.checkpoint import manifest
from tapegrad.distributed.checkpoint import metadata as md
from tapegrad.distributed.checkpoint.planner import Item
from tapegrad.serialization import load, save
from tapegrad.tensors.tensor import Tensor

_FILE = re.compile(r"__\d+_(\d+)\.distcp(\.part|\.failed)?")
_NAP_S = 0.02


class StorageWriter:
    """Where a checkpoint is written: `FileSystemWriter` is the one there is."""


class StorageReader:
    """Where a checkpoint is read from: `FileSystemReader` is the one there is."""


class FileSystemWriter(StorageWriter):
    """A folder that a checkpoint is written to.

    Args:
        path: The folder, made if it is not there; all ranks see the same.
        sync_files: Wait until the disk has each file.
        overwrite: Let a new checkpoint take the place of an old one; else that is an error.
        single_file_per_rank, thread_count, per_thread_copy_ahead, cache_staged_state_dict:
            Accepted: each rank writes one file, by one thread.
    """

    def __init__(
        self,
        path: str | os.PathLike,
        single_file_per_rank: bool = True,
        sync_files: bool = True,
        thread_count: int = 1,
        per_thread_copy_ahead: int = 10_000_000,
        cache_staged_state_dict: bool = False,
        overwrite: bool = True,
        _extensions: Sequence | None = None,
        serialization_format: Any = None,
    ) -> None:
        if _extensions or getattr(serialization_format, "name", "TORCH_SAVE") != "TORCH_SAVE":
            raise not_implemented(
                "tapegrad writes checkpoints as torch.save does, without extensions",
                "Leave _extensions and serialization_format away.",
            )
        self.path = os.fspath(path)
        self.sync_files, self.overwrite = sync_files, overwrite

    @property
    def checkpoint_id(self) -> str:
        """The folder."""
        return self.path

    def generation(self) -> int:
        """Make the folder, and find the number that the files of this checkpoint get."""
        os.makedirs(self.path, exist_ok=True)
        used = set()
        if os.path.exists(self._at(manifest.NAME)):
            if not self.overwrite:
                raise runtime_error(
                    f"Checkpoint already exists and self.overwrite={self.overwrite}.",
                    "Take another folder.",
                )
            used = {_generation(name) for name in _files(manifest.read(self._at(manifest.NAME)))}
        number = next(n for n in range(len(used) + 1) if n not in used)
        self._remove(lambda name: _generation(name) == number)  # of a save that was broken off
        return number

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _remove(self, which: Any) -> None:
        for name in os.listdir(self.path):
            if _FILE.fullmatch(name) and which(name):
                os.remove(self._at(name))

    def write(self, name: str, pieces: Iterator[bytes]) -> None:
        """Write a file, which has its name once it is whole."""
        part = self._at(f"{name}.part")
        try:
            with open(part, "wb") as file:
                for piece in pieces:
                    file.write(piece)
                if self.sync_files:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(part, self._at(name))
        except Exception:
            with open(self._at(f"{name}.failed"), "wb"):
                pass  # for whoever waits for the file
            raise

    def wait_for(self, names: Sequence[str], limit_s: float) -> None:
        """Wait until other processes have written files."""
        end = time.monotonic() + limit_s
        for name in names:
            while not os.path.exists(self._at(name)):
                if os.path.exists(self._at(f"{name}.failed")):
                    raise runtime_error(
                        f"the rank that writes {name} failed", "Its own future says how."
                    )
                if time.monotonic() > end:
                    raise advised(
                        TimeoutError(f"{name} was not written in {limit_s:g} s"),
                        "Did every rank call async_save?",
                    )
                time.sleep(_NAP_S)

    def finish(self, found: md.Metadata) -> None:
        """Put the manifest there, and let go of the files of the one before."""
        found.storage_meta = md.StorageMeta(self.path, save_id=str(uuid.uuid4()))
        manifest.write(self._at(manifest.NAME), found)
        names = _files(found)
        self._remove(lambda name: name not in names)


UNDER_WAY: dict[str, Future] = {}
LOCK = threading.Lock()


def finish_earlier(path: str) -> None:
    """Wait for a save to the same folder that is under way."""
    with LOCK:
        earlier = UNDER_WAY.pop(os.path.realpath(path), None)
    if earlier is not None:
        earlier.exception()  # its future says what it was


def _files(found: md.Metadata) -> set[str]:
    return {info.relative_path for info in (found.storage_data or {}).values()}


def _generation(name: str) -> int:
    match = _FILE.fullmatch(name)
    return -1 if match is None else int(match[1])


def written(x: Any) -> bytes:
    """A tensor or an object, as `torch.save` writes it."""
    stream = io.BytesIO()
    save(x, stream)
    return stream.getvalue()


class FileSystemReader(StorageReader):
    """A folder that a checkpoint is read from."""

    def __init__(self, path: str | os.PathLike, _extension_registry: Any = None) -> None:
        self.path = os.fspath(path)

    @property
    def checkpoint_id(self) -> str:
        """The folder."""
        return self.path

    def read_metadata(self) -> md.Metadata:
        """The manifest."""
        path = os.path.join(self.path, manifest.NAME)
        if not os.path.exists(path):
            raise advised(
                FileNotFoundError(f"[Errno 2] No such file or directory: '{path}'"),
                "A folder without a manifest has no whole checkpoint.",
            )
        return manifest.read(path)

    def read(self, info: md._StorageInfo) -> Any:
        """The tensor or object that lies somewhere in the folder.

        Raises: pickle.UnpicklingError for an object that could run code; see
            `torch.serialization.add_safe_globals`.
        """
        if getattr(info, "transform_descriptors", None):
            raise not_implemented(
                f"the checkpoint was written with extensions {info.transform_descriptors}",
                "Write it with PyTorch, without them.",
            )
        name = info.relative_path
        if not isinstance(name, str) or os.path.basename(name) != name:
            raise runtime_error(
                f"the manifest names a file outside of its folder: {name}", "It is damaged."
            )
        with open(os.path.join(self.path, name), "rb") as file:
            file.seek(info.offset)
            return load(io.BytesIO(file.read(info.length)), map_location="cpu")


def value_of(item: Item, flat: dict[str, Any]) -> Any:
    """What is written of an item: this rank's part, in memory of its own."""
    x = flat[item.fqn]
    if not isinstance(x, Tensor):
        return x
    part = x.to_local() if hasattr(x, "to_local") else x
    return (
        part.detach().clone() if part.untyped_storage().nbytes() > item.n_bytes else part.detach()
    )


__getattr__ = _refuses(__name__)
