"""What holds for files where nothing is said."""

import io
import mmap
import zipfile

import pytest

import tapegrad as torch
from tapegrad import serialization
from tapegrad.serialization import LoadEndianness


def test_a_file_that_names_no_byte_order_has_the_one_that_is_set():
    whole, bare = io.BytesIO(), io.BytesIO()
    torch.save(torch.ones(2), whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(bare, "w") as new:
        for each in old.infolist():
            if not each.filename.endswith("byteorder"):
                new.writestr(each.filename, old.read(each))
    assert serialization.get_default_load_endianness() is None
    serialization.set_default_load_endianness(LoadEndianness.BIG)
    try:
        assert serialization.get_default_load_endianness() is LoadEndianness.BIG
        whole.seek(0)
        assert torch.load(whole).tolist() == [1, 1]
        bare.seek(0)
        with pytest.raises(RuntimeError, match="names no byte order"):
            torch.load(bare)
    finally:
        serialization.set_default_load_endianness(None)
    bare.seek(0)
    assert torch.load(bare).tolist() == [1, 1]
    with pytest.raises(TypeError, match="Invalid argument type"):
        serialization.set_default_load_endianness("little")


def test_files_are_mapped_privately():
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with serialization.set_default_mmap_options(mmap.MAP_PRIVATE):
        assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match="but got 3"):
        serialization.set_default_mmap_options(3)
    with pytest.raises(NotImplementedError, match="privately"):
        serialization.set_default_mmap_options(mmap.MAP_SHARED)


def test_whether_checksums_are_wanted_is_kept():
    serialization.set_crc32_options(False)
    try:
        assert serialization.get_crc32_options() is False
    finally:
        serialization.set_crc32_options(True)
