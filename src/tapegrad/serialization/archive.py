"""The zip archive that a `.pt` file is: its records, read where they lie and checked."""

import mmap
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from tapegrad.core.annotations import Any
from tapegrad.core.errors import advised, runtime_error
from tapegrad.serialization.message import corrupted

_LOCAL = struct.Struct("<4s5H3I2H")  # the header before each record
_BROKEN = (
    zipfile.BadZipFile,
    NotImplementedError,
    ValueError,
    OverflowError,
    OSError,  # of a seek to where no file reaches
    struct.error,
)


class Archive:
    """The records of an open file.

    Records are not packed, lie within the file and do not overlap, so that what is read is never
    more than the file.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._memory: mmap.mmap | None = None  # the whole file, once a record is mapped
        self.file_size = file.seek(0, 2)
        file.seek(0)
        try:
            with zipfile.ZipFile(file) as found:
                entries, self._end = found.infolist(), found.start_dir
        except _BROKEN as error:
            raise corrupted("reading zip archive: failed finding central directory") from error
        if not entries:
            raise corrupted("reading zip archive: archive does not contain any files")
        self.name = entries[0].filename.partition("/")[0]
        self._entries = {each.filename: each for each in entries}
        if len(self._entries) != len(entries):
            raise corrupted("reading zip archive: two records have one name")
        if any(each.compress_type != zipfile.ZIP_STORED or each.flag_bits & 1 for each in entries):
            raise advised(
                corrupted("reading zip archive: a record is compressed or encrypted"),
                "Neither PyTorch nor tapegrad packs records: unpack, and zip with level 0.",
            )
        if sum(max(each.file_size, 0) for each in entries) > self.file_size:
            raise corrupted("reading zip archive: the records are larger than the file")
        # PyTorch's set_crc32_options(False) leaves all of them away.
        self._has_checksums = any(each.CRC for each in entries)
        self._check_version()

    def _check_version(self) -> None:
        if not ("version" in self or ".data/version" in self):
            raise RuntimeError(
                'Expected hasRecord("version") to be true, but got false.  (Could this error '
                "message be improved?  If so, please report an enhancement request to PyTorch.)"
            )
        text = self.read("version" if "version" in self else ".data/version")
        number = int(text) if text.strip().isdigit() and len(text) < 20 else 0
        if not 1 <= number <= 10:
            raise runtime_error(
                f"Attempted to read a PyTorch file with version {text[:20]!r}, but the "
                "supported versions for reading are 1 to 10.",
                "Save it again with the PyTorch that wrote it.",
            )

    def __contains__(self, record: str) -> bool:
        return f"{self.name}/{record}" in self._entries

    def names(self) -> list[str]:
        """The names of all records, without that of the archive."""
        return [each.partition("/")[2] for each in self._entries]

    def size(self, record: str) -> int:
        """The bytes of a record."""
        return self._entry(record).file_size

    def place(self, record: str) -> int:
        """Where in the file the bytes of a record begin."""
        entry = self._entry(record)
        n = entry.file_size
        start = entry.header_offset
        if entry.compress_size != n or start < 0 or start + _LOCAL.size > self._end:
            raise corrupted(f"reading file {record}: file read failed")
        self._file.seek(start)
        header = _LOCAL.unpack(self._read(_LOCAL.size, record))
        start += _LOCAL.size + header[-2] + header[-1]  # the name and the padding
        if header[0] != b"PK\x03\x04" or start + n > self._end:
            raise corrupted(f"reading file {record}: file read failed")
        return start

    def read(self, record: str) -> bytes:
        """The bytes of a record."""
        self._file.seek(self.place(record))
        found = self._read(self.size(record), record)
        self._check(record, found)
        return found

    def array(self, record: str, dtype: Any) -> np.ndarray:
        """A record as elements of a dtype, in memory of its own."""
        place, n = self.place(record), self.size(record)
        array = np.empty(n // np.dtype(dtype).itemsize, dtype)
        memory = memoryview(array.view(np.uint8))  # type: ignore[arg-type]
        self._file.seek(place)
        fill(self._file, memory)
        self._check(record, memory)
        return array

    def mapped(self, record: str, dtype: Any) -> np.ndarray:
        """A record as elements of a dtype that stay in the file; writes do not reach it."""
        place, n = self.place(record), self.size(record)
        count = n // np.dtype(dtype).itemsize
        if not count:
            return np.empty(0, dtype)
        if self._memory is None:
            self._memory = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_COPY)
        return np.frombuffer(self._memory, dtype, count, place)

    def _entry(self, record: str) -> zipfile.ZipInfo:
        found = self._entries.get(f"{self.name}/{record}")
        if found is None:
            raise corrupted(f"locating file {record}: file not found")
        return found

    def _read(self, n: int, record: str) -> bytes:
        found = self._file.read(n)
        if len(found) != n:
            raise corrupted(f"reading file {record}: file read failed")
        return found

    def _check(self, record: str, data: Any) -> None:
        expected = self._entry(record).CRC
        if self._has_checksums and zlib.crc32(data) != expected:
            raise corrupted(f"reading file {record}: the bytes do not have their checksum")


def fill(file: Any, memory: memoryview) -> None:
    """Read from `file` until `memory` is full."""
    into = getattr(file, "readinto", None)
    at, n = 0, len(memory)
    while at < n:
        if into is not None:
            got = into(memory[at:])
        else:
            part = file.read(n - at)
            got = len(part)
            memory[at : at + got] = part
        if not got:
            raise corrupted("reading file: the file ends before its data")
        at += got


class ArchiveWriter:
    """Writes records one after the other, each at a multiple of 64 bytes."""

    def __init__(self, file: zipfile.ZipFile, name: str) -> None:
        self._file = file
        self._name = name

    def add(self, record: str, data: Any) -> None:
        """Write a record."""
        n = len(data)
        entry = zipfile.ZipInfo(f"{self._name}/{record}")
        entry.file_size = n
        is_large = n * 1.05 > zipfile.ZIP64_LIMIT
        name = entry.filename.encode()
        here: Any = self._file.fp
        begin = here.tell() + _LOCAL.size + len(name) + 4 + (20 if is_large else 0)
        padding = -begin % 64
        entry.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        with self._file.open(entry, "w", force_zip64=is_large) as out:
            out.write(data)
        entry.extra = b""  # not once more in the table of contents


@contextmanager
def writing(file: Any, name: str) -> Iterator[ArchiveWriter]:
    """Write an archive called `name` into an open file."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as found:
        yield ArchiveWriter(found, name)
