"""Defaults of `load` and `save`: the byte order that a file does not name, checksums, mapping."""

import enum
import mmap
from types import TracebackType
from typing import Any

from tapegrad.core import errors


class LoadEndianness(enum.Enum):
    """The byte order of a file that does not name its own."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


_endianness: list[LoadEndianness | None] = [None]
_checksums: list[Any] = [True]
_MAP_PRIVATE = getattr(mmap, "MAP_PRIVATE", 2)


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files that name none; None: this machine's."""
    return _endianness[0]


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Say which byte order files have that name none; `load` refuses all but little-endian ones."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise errors.type_error(
            "Invalid argument type in function set_default_load_endianness",
            "Pass a LoadEndianness, or None.",
        )
    _endianness[0] = endianness


def get_crc32_options() -> bool:
    """Whether PyTorch would compute checksums of records."""
    return _checksums[0]


def set_crc32_options(compute_crc32: bool) -> None:
    """Say whether checksums are wanted: files of `save` have them all the same."""
    _checksums[0] = compute_crc32


def get_default_mmap_options() -> int:
    """How `load(mmap=True)` maps a file: `mmap.MAP_PRIVATE`."""
    return _MAP_PRIVATE


class set_default_mmap_options:
    """Say how `load(mmap=True)` maps files: privately, so that writes do not reach them."""

    def __init__(self, flags: int) -> None:
        if flags == getattr(mmap, "MAP_SHARED", 1):
            raise errors.not_implemented(
                "set_default_mmap_options(mmap.MAP_SHARED): files are mapped privately",
                "Save what was written with torch.save.",
            )
        if flags != _MAP_PRIVATE:
            raise errors.advised(
                ValueError(
                    "Invalid argument in function set_default_mmap_options, expected "
                    f"mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got {flags}"
                ),
                "Pass mmap.MAP_PRIVATE.",
            )

    def __enter__(self) -> None:
        """The options hold already."""

    def __exit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """There was nothing else before."""
