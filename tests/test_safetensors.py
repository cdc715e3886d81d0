"""The safetensors format."""

import os
from base64 import b64decode

import pytest

import tapegrad as torch
from tests import needs

needs.package("safetensors", "writes the files", extra="test")

# {"b": bfloat16 [1, 1], "x": float32 [0, 1, 2]} with metadata {"by": "us"}, written by PyTorch.
FILE = b64decode(
    "kAAAAAAAAAB7Il9fbWV0YWRhdGFfXyI6eyJieSI6InVzIn0sIngiOnsiZHR5cGUiOiJGMzIiLCJzaGFwZSI6WzNdLC"
    "JkYXRhX29mZnNldHMiOlswLDEyXX0sImIiOnsiZHR5cGUiOiJCRjE2Iiwic2hhcGUiOlsyXSwiZGF0YV9vZmZzZXRz"
    "IjpbMTIsMTZdfX0gICAgICAAAAAAAACAPwAAAECAP4A/"
)


def test_a_file_of_pytorch_is_read():
    needs.package("ml_dtypes", "has bfloat16", extra="test")
    found = torch.safetensors.load(FILE)
    assert found["x"].tolist() == [0, 1, 2] and found["x"].dtype is torch.float32
    assert found["b"].tolist() == [1, 1] and found["b"].dtype is torch.bfloat16
    found["x"] += 1


def test_the_same_tensors_give_the_same_file():
    needs.package("ml_dtypes", "has bfloat16", extra="test")
    tensors = {"x": torch.arange(3.0), "b": torch.ones(2, dtype=torch.bfloat16)}
    assert torch.safetensors.save(tensors, {"by": "us"}) == FILE


@pytest.mark.parametrize(
    "name",
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 "
    "complex64".split(),
)
def test_dtypes_come_back(name, tmp_path):
    x = torch.tensor([[0, 1], [1, 0]]).to(getattr(torch, name))
    torch.safetensors.save_file({"x": x, "none": x[:0], "one": x[0, 0].clone()}, tmp_path / "x")
    found = torch.safetensors.load_file(tmp_path / "x")
    assert found["x"].dtype is x.dtype and found["x"].tolist() == x.tolist()
    assert found["none"].shape == (0, 2) and found["one"].shape == ()
    assert os.listdir(tmp_path) == ["x"]


def test_shared_memory_is_refused_and_parts_beside_each_other_are_not():
    x = torch.arange(4.0)
    with pytest.raises(RuntimeError, match=r"Some tensors share memory, .*\[\{'[ab]', '[ab]'\}\]"):
        torch.safetensors.save({"a": x, "b": x[2:], "c": torch.ones(1)})
    assert len(torch.safetensors.load(torch.safetensors.save({"a": x[:2], "b": x[2:]}))) == 2


def test_what_the_format_has_not_is_refused():
    x = torch.ones(2, 3)
    with pytest.raises(ValueError, match="You are trying to save a non contiguous tensor: `x`"):
        torch.safetensors.save({"x": x.T})
    with pytest.raises(ValueError, match=r"Expected a dict of \[str, torch.Tensor\]"):
        torch.safetensors.save([x])
    with pytest.raises(ValueError, match=r"Key `x` is invalid, expected torch\.Tensor"):
        torch.safetensors.save({"x": 3})
    with pytest.raises(KeyError, match=r"torch\.complex128"):
        torch.safetensors.save({"x": x.to(torch.complex128)})


def test_a_damaged_file_is_refused():
    from safetensors import SafetensorError

    for n in range(len(FILE)):
        with pytest.raises(SafetensorError):
            torch.safetensors.load(FILE[:n])
