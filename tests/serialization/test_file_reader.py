"""The records of a `.pt` file, read as PyTorch's reader does."""

import errno

import pytest

import tapegrad as torch


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "file.pt")
    torch.save({"a": torch.tensor([1.0, 2.0, 3.0]), "n": 3}, path)
    return path


def test_records_are_those_of_pytorchs_reader(pytorch, path):
    ours, theirs = torch.PyTorchFileReader(path), pytorch.PyTorchFileReader(path)
    assert ours.get_all_records() == theirs.get_all_records()
    for name in ours.get_all_records():
        assert ours.get_record(name) == theirs.get_record(name)
        assert ours.get_record_size(name) == theirs.get_record_size(name)
        assert ours.get_record_offset(name) == theirs.get_record_offset(name)
    assert ours.serialization_id() == theirs.serialization_id()
    assert ours.has_record("data/0") and not ours.has_record("data/1")


def test_elements_of_a_record_are_a_tensor(path):
    reader = torch.PyTorchFileReader(path)
    assert reader.get_storage_from_record("data/0", 2, torch.float32).tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="has 12 bytes"):
        reader.get_storage_from_record("data/0", 4, torch.float32)


def test_what_is_not_there_is_refused(path, tmp_path):
    with pytest.raises(RuntimeError, match="failed locating file data/9: file not found"):
        torch.PyTorchFileReader(path).get_record("data/9")
    message = f"open file failed because of errno {errno.ENOENT} on fopen"
    with pytest.raises(RuntimeError, match=message):
        torch.PyTorchFileReader(str(tmp_path / "none.pt"))
    with pytest.raises(TypeError, match="not a int"):
        torch.PyTorchFileReader(3)
