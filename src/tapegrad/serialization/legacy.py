"""The format of PyTorch before 1.6: pickles one after the other, then the memory of the tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.core.errors import advised, not_implemented, runtime_error
from tapegrad.core.storage import UntypedStorage
from tapegrad.serialization.allowed import Allowed
from tapegrad.serialization.machine import Machine
from tapegrad.serialization.message import malformed
from tapegrad.serialization.rebuild import TypedStorage

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001


def load_legacy(file: Any, allowed: Allowed, put: Any, encoding: str) -> Any:
    """What a file in the old format holds."""
    data = file.read()
    if not data:
        raise advised(EOFError("Ran out of input"), "The file is empty.")
    storages = _Storages(put, len(data))
    machine = Machine(data, allowed.find, allowed.call, allowed.build, storages.get, encoding)
    # Numbers that begin every file, before anything else is looked at.
    if data[:2] != b"\x80\x02" or machine.run() != _MAGIC:
        raise runtime_error(
            "Invalid magic number; corrupt file?",
            "This is no file of torch.save: a zip archive, or the older format, begins otherwise.",
        )
    version = machine.run()
    if version != _PROTOCOL:
        raise RuntimeError(f"Invalid protocol version: {version}")
    system = machine.run()
    if type(system) is not dict or system.get("little_endian") is not True:
        raise runtime_error(
            "the file's byte order is not little-endian",
            "tapegrad reads files that were written on little-endian machines.",
        )
    found = machine.run()
    keys = machine.run()
    storages.fill(keys, machine)
    return found


class _Storages:
    """The memory that the pickle refers to: made at once, filled from what follows the pickles."""

    def __init__(self, put: Any, limit: int) -> None:
        self._put = put
        self._left = limit  # bytes: together they are no more than the file
        self._arrays: dict[str, np.ndarray] = {}
        self._storages: dict[str, UntypedStorage] = {}

    def get(self, given: Any) -> Any:
        """The storage meant by a persistent id."""
        from tapegrad.serialization.reader import checked_id

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
            array = np.zeros(numel, "u1" if kind.dtype is None else kind.dtype.numpy)
            self._arrays[key] = array
            storage = self._storages[key] = self._put(UntypedStorage(array), location)
        elif storage.nbytes() != numel * itemsize:
            raise malformed("a storage has two sizes")
        return storage if kind.dtype is None else TypedStorage(storage, kind.dtype)

    def fill(self, keys: Any, machine: Machine) -> None:
        """Read the memory: for each key a count of elements, and those."""
        if type(keys) is not list or sorted(map(str, keys)) != sorted(self._arrays):
            raise malformed("the list of storages does not name those of the tensors")
        for key in keys:
            array = self._arrays[key]
            n = machine.number("<q", 8)
            if n != array.size:
                raise malformed(f"a storage has {n} elements, and {array.size} were announced")
            array.view(np.uint8)[:] = np.frombuffer(machine.take(array.nbytes), np.uint8)
