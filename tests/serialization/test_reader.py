"""Files that were cut or altered: an error that says so, or the object, and nothing else."""

import io
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tapegrad as torch
from tests.serialization import pytorch_files as files

# What a damaged file may give; all others would be faults of ours.
CLEAR = (RuntimeError, pickle.UnpicklingError, EOFError)
ARCHIVES = (files.VIEWS, files.OBJECTS, files.TRAINING, files.MODULE, files.LEGACY)


def load_or_say_so(data, **options):
    try:
        return torch.load(io.BytesIO(data), **options)
    except CLEAR as error:
        assert str(error)
        return None


@pytest.mark.parametrize("data", ARCHIVES, ids=len)
def test_a_file_cut_anywhere_is_refused(data):
    step = max(len(data) // 400, 1)
    for n in range(0, len(data) - 1, step):
        with pytest.raises(CLEAR):
            torch.load(io.BytesIO(data[:n]))


@pytest.mark.parametrize("data", ARCHIVES, ids=len)
def test_each_byte_altered_alone_gives_an_error_or_an_object(data):
    for i in range(0, len(data), max(len(data) // 700, 1)):
        altered = bytearray(data)
        altered[i] ^= 1 << i % 8
        load_or_say_so(bytes(altered))


@given(
    st.sampled_from(ARCHIVES),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=8)), max_size=6),
    st.integers(0, 1 << 20),
    st.booleans(),
)
def test_bytes_altered_at_several_places_give_an_error_or_an_object(data, changes, end, is_cut):
    altered = bytearray(data)
    for place, new in changes:
        at = place % len(altered)
        altered[at : at + len(new)] = new
    if is_cut:
        del altered[end % len(altered) :]
    load_or_say_so(bytes(altered))


def repacked(data, program):
    """The archive with another pickle, everything else in order."""
    import zipfile

    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, program if name.endswith("data.pkl") else old.read(name))
    return file.getvalue()


def program_of(data):
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read("archive/data.pkl")


@given(
    st.sampled_from(ARCHIVES[:4]),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_pickles_altered_where_the_checksum_agrees_give_an_error_or_an_object(data, changes):
    program = bytearray(program_of(data))
    for place, new in changes:
        program[place % len(program)] = new
    load_or_say_so(repacked(data, bytes(program)))


@given(st.binary(max_size=60))
def test_any_bytes_as_a_pickle_give_an_error_or_an_object(program):
    load_or_say_so(repacked(files.VIEWS, b"\x80\x02" + program))


def test_altered_values_are_noticed():
    data = bytearray(files.VIEWS)
    data[data.index(b"\x00\x00\x80?")] ^= 1  # the number 1 in a tensor
    with pytest.raises(RuntimeError, match="do not have their checksum"):
        torch.load(io.BytesIO(data))
