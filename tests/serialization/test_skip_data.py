"""Files with room for what tensors hold."""

import io

import pytest

import tapegrad as torch
from tests.messages import raises


def saved():
    file = io.BytesIO()
    torch.save({"a": torch.ones(3), "b": torch.full((2, 2), 7)}, file)
    return file.getvalue()


def test_a_file_has_room_for_the_elements_which_is_zeros():
    whole = saved()
    with torch.serialization.skip_data():
        empty = saved()
    assert len(empty) == len(whole) and saved() == whole
    found = torch.load(io.BytesIO(empty))
    assert (found["a"].tolist(), found["b"].tolist()) == ([0, 0, 0], [[0, 0], [0, 0]])
    assert found["b"].dtype == torch.int64


def test_blocks_may_be_nested_and_end_with_an_error():
    block = torch.serialization.skip_data()
    with pytest.raises(KeyError), block, block:
        raise KeyError
    assert torch.load(io.BytesIO(saved()))["a"].tolist() == [1, 1, 1]


def test_what_cannot_be_left_out_raises():
    with (
        torch.serialization.skip_data(),
        raises(RuntimeError, "Cannot use skip_data=True with _use_new_zipfile_serialization=False"),
    ):
        torch.save(torch.ones(1), io.BytesIO(), _use_new_zipfile_serialization=False)
    with pytest.raises(NotImplementedError, match="materialize_fake_tensors"):
        torch.serialization.skip_data(materialize_fake_tensors=True)
