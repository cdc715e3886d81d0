"""Saving and what is loaded then."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest

import tapegrad as torch
from tests.command import python
from tests.messages import raises
from tests.tiers import rounds


def again(x, **options):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, **options)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_tensors_in_containers_come_back(protocol):
    x = torch.arange(6.0)
    given = {"x": x, "part": x[2:4], "turned": x.reshape(2, 3).T, "n": [1, (2.5, None, "é")]}
    file = io.BytesIO()
    torch.save(given, file, pickle_protocol=protocol)
    file.seek(0)
    found = torch.load(file)
    assert found["n"] == given["n"] and found["turned"].tolist() == given["turned"].tolist()
    found["x"][2] = 9
    assert found["part"].tolist() == [9, 3]
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_what_is_saved_twice_is_one_object():
    x = torch.ones(2)
    a, b = again([x, x])
    assert a is b


def test_attributes_and_classes_of_tensors_come_back():
    x = torch.ones(2)
    x.name = "x"
    buffer = torch.nn.Buffer(torch.ones(1), persistent=False)
    found, kept = again([x, buffer])
    assert found.name == "x" and isinstance(kept, torch.nn.Buffer) and not kept.persistent


def test_history_and_gradient_stay_behind():
    w = torch.ones(2, requires_grad=True)
    y = w * 2
    y.sum().backward()
    found = again([w, y])
    assert found[0].grad is None and found[1].is_leaf and found[1].requires_grad


def test_a_tensor_on_memory_of_numpy_that_runs_backwards_is_saved_as_a_copy():
    x = torch.ones(3)
    x._array = np.arange(3.0, dtype="f4")[::-1]
    assert again(x).tolist() == [2, 1, 0]


def test_a_layer_comes_back_if_layers_are_allowed():
    layer = torch.nn.Linear(2, 1)
    found = again(layer, weights_only=False)
    assert found.weight.tolist() == layer.weight.tolist() and found is not layer


def test_records_lie_at_multiples_of_64_bytes_and_the_same_object_gives_the_same_bytes(tmp_path):
    files = []
    for _ in range(2):
        torch.save([torch.ones(3), torch.zeros(2, dtype=torch.int8)], tmp_path / "name.pt")
        files.append((tmp_path / "name.pt").read_bytes())
    assert files[0] == files[1]
    with zipfile.ZipFile(io.BytesIO(files[0])) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [
            *("name/data.pkl", "name/byteorder", "name/data/0", "name/data/1"),
            *("name/version", "name/.data/serialization_id"),
        ]
    for data in (b"\0\0\x80?" * 3, b"little"):
        assert files[0].index(data) % 64 == 0


def test_one_memory_as_two_dtypes_is_refused():
    x = torch.ones(2)
    with raises(
        RuntimeError,
        "Cannot save multiple tensors or storages that view the same data as different types",
    ):
        torch.save([x, x.view(torch.int32)], io.BytesIO())


def test_errors_of_save_are_pytorchs(tmp_path):
    with raises(
        AttributeError,
        "expected 'f' to be string, path, or a file-like object with a 'write' attribute",
    ):
        torch.save(1, 5)
    folder = tmp_path / "none"
    with raises(RuntimeError, f"Parent directory {folder} does not exist."):
        torch.save(1, folder / "x.pt")
    with pytest.raises(AttributeError, match="Can't pickle local object"):
        torch.save(lambda: 1, io.BytesIO())
    with pytest.raises(NotImplementedError, match="_use_new_zipfile_serialization"):
        torch.save(1, io.BytesIO(), _use_new_zipfile_serialization=False)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "x.pt"
    torch.save(1, path)
    os.chmod(path, 0o640)
    with pytest.raises(AttributeError):
        torch.save([torch.ones(2), lambda: 1], path)
    assert torch.load(path) == 1 and os.listdir(tmp_path) == ["x.pt"]
    torch.save(2, path)
    assert torch.load(path) == 2 and os.listdir(tmp_path) == ["x.pt"]
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_name_may_be_as_long_as_the_folder_allows(tmp_path):
    path = tmp_path / ("\N{CJK UNIFIED IDEOGRAPH-6C34}" * 83 + ".pt")  # 252 bytes
    torch.save(torch.ones(1), path)
    assert torch.load(path).item() == 1


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    torch.save(1, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and torch.load(tmp_path / "target") == 1


def test_saving_never_imports_pytorch():
    from tests.command import run_code

    code = """
import io, sys, tapegrad
tapegrad.save([tapegrad.ones(2), tapegrad.float32, tapegrad.nn.Linear(1, 1)], io.BytesIO())
print("torch" in sys.modules)
"""
    assert run_code(code) == "False\n"


def test_numpys_arrays_and_numbers_come_back_if_that_is_allowed():
    given = {"loss": np.float32(0.5), "n": np.int64(3), "x": np.arange(6.0).reshape(2, 3).T}
    with pytest.raises(pickle.UnpicklingError, match=r"numpy\._core\.multiarray"):
        again(given)
    found = again(given, weights_only=False)
    assert type(found["loss"]) is np.float32 and found["loss"] == 0.5 and found["n"] == 3
    assert (found["x"] == given["x"]).all() and found["x"].flags.f_contiguous
    assert again(np.array([None]), weights_only=False).tolist() == [None]


class Ours:
    """Calls itself PyTorch's."""


Ours.__module__ = "torch.nowhere"


def test_classes_that_are_called_as_pytorchs_are_saved_without_it():
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL torch\.nowhere\.Ours was"):
        again(Ours)


PROGRAM = """
import os, signal, sys, time, tapegrad as torch
path = sys.argv[1]
x = torch.arange(50_000.)
torch.save({"n": 0, "x": x}, path)
hits = 0
for i in range(int(sys.argv[2])):
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        n = i * 1000
        while True:
            n += 1
            torch.save({"n": n, "x": x + n}, path)
            os.write(tell, b".")
    os.read(ready, 1)
    time.sleep(0.0003 * (i % 17))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready), os.close(tell)
    left = [name for name in os.listdir(os.path.dirname(path)) if name.endswith(".tmp")]
    assert len(left) <= 1
    hits += len(left)
    found = torch.load(path)
    assert found["n"] > i * 1000 and (found["x"] == x + found["n"]).all(), found["n"]
torch.save(0, path)
print(hits > 0, os.listdir(os.path.dirname(path)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_kills_in_the_middle_of_save_leave_a_whole_file_each_time(tmp_path):
    result = python("-c", PROGRAM, tmp_path / "x.pt", rounds(100, 3000), OPENBLAS_NUM_THREADS="1")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "True ['x.pt']\n"  # some were hit while they wrote, and nothing is left
