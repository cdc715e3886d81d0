"""`torch.PyTorchFileReader`: the records of a `.pt` file, by their names."""

from __future__ import annotations

import hashlib
import os
import weakref

from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.dtype import dtype
from tapegrad.core.errors import runtime_error, type_error
from tapegrad.serialization.archive import Archive
from tapegrad.tensors.tensor import wrap

__torch__ = "PyTorchFileReader"


class PyTorchFileReader:
    """The records of a `.pt` file, by their names.

    Args:
        name_or_buffer: a path, or a binary file that can seek

    Raises:
        RuntimeError: there is no such file, or it is no archive of `torch.save`

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.tensor([1.0]), file)
    >>> reader = torch.PyTorchFileReader(file)
    >>> reader.has_record("data/0"), reader.get_record_size("data/0")
    (True, 4)
    >>> reader.get_record("byteorder")
    b'little'
    """

    def __init__(self, name_or_buffer: Any) -> None:
        if isinstance(name_or_buffer, str):
            try:
                file = open(name_or_buffer, "rb")
            except OSError as error:
                raise RuntimeError(
                    f"open file failed because of errno {error.errno} on fopen: "
                    f"{os.strerror(error.errno or 0)}, file path: {name_or_buffer}"
                ) from None
            weakref.finalize(self, file.close)
            name_or_buffer = file
        elif not hasattr(name_or_buffer, "seek"):
            raise type_error(
                "PyTorchFileReader takes a path as str, or a binary file, not a "
                f"{type(name_or_buffer).__name__}",
                "Give str(path).",
            )
        self._archive = Archive(name_or_buffer)

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return self._archive.names()

    def has_record(self, name: str) -> bool:
        """Whether there is a record of that name."""
        return name in self._archive

    def get_record(self, name: str) -> bytes:
        """The bytes of a record."""
        return self._archive.read(name)

    def get_record_size(self, name: str) -> int:
        """The number of bytes of a record."""
        return self._archive.size(name)

    def get_record_offset(self, name: str) -> int:
        """Where in the file the bytes of a record begin."""
        return self._archive.place(name)

    def get_storage_from_record(self, name: str, numel: int, dtype: dtype) -> Tensor:
        """The first `numel` elements of a record, as a tensor of `dtype`."""
        kind = dtype.numpy
        size = numel * kind.itemsize
        if size > self._archive.size(name):
            raise runtime_error(
                f"record {name} has {self._archive.size(name)} bytes, which are fewer than "
                f"{numel} elements of {dtype}",
                "Ask for what is there: get_record_size(name).",
            )
        return wrap(self._archive.array(name, kind)[:numel])

    def serialization_id(self) -> str:
        """Digits that differ from file to file: those in the file, or of what it holds."""
        if self.has_record(".data/serialization_id"):
            return self.get_record(".data/serialization_id").decode()
        digest = hashlib.sha256(self.get_record("data.pkl"))
        return str(int.from_bytes(digest.digest()[:16]))


PyTorchFileReader.__module__ = "torch"
