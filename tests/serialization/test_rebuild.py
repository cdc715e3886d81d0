"""Files that PyTorch has written."""

import io
from collections import Counter, OrderedDict

import pytest

import tapegrad as torch
from tests import needs
from tests.serialization import pytorch_files as files


def load(data, **options):
    return torch.load(io.BytesIO(data), **options)


def test_views_of_one_memory_share_it_again():
    found = load(files.VIEWS)
    found["x"][2] = 9
    assert found["part"].tolist() == [9, 3]
    assert found["turned"].tolist() == [[0, 3], [1, 4], [9, 5]]
    assert found["turned"].stride() == (1, 3) and found["part"].storage_offset() == 2
    assert found["repeated"].stride() == (0,) and found["repeated"].tolist() == [1] * 5
    assert found["empty"].shape == (0, 3) and found["number"].item() == 3


def test_every_dtype_is_read():
    needs.package("ml_dtypes", "has bfloat16", extra="test")
    found = load(files.DTYPES)
    assert [str(x.dtype)[6:] for x in found] == (
        "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
        "complex64 complex128"
    ).split()
    assert found[0].tolist() == [False, True, True]
    assert all(x.tolist() == [0, 1, 2] for x in found[1:])


def test_parameters_numbers_texts_and_containers_are_read():
    found = load(files.OBJECTS)
    parameter = found.pop("p")
    assert type(parameter) is torch.nn.Parameter and parameter.tag == "w"
    assert parameter.requires_grad and parameter.tolist() == [1, 1]
    leaf = found.pop("leaf")
    assert leaf.requires_grad and leaf.is_leaf
    assert found.pop("conj").tolist() == [1 - 2j]
    assert found == {
        "size": torch.Size([1, 2]),
        "dtype": torch.float32,
        "device": torch.device("cuda", 1),
        "layout": torch.strided,
        "set": {1, 2},
        "int": -(2**70),
        "float": 1.5,
        "complex": 1 + 2j,
        "bytes": b"a\xff",
        "bytearray": bytearray(b"x"),
        "text": "é",
        "tuple": (1, (2,), [None, True]),
        "ordered": OrderedDict(a=1),
        "counter": Counter("aab"),
    }
    assert type(found["size"]) is torch.Size and type(found["ordered"]) is OrderedDict


def test_a_state_dict_and_that_of_an_optimizer_are_read():
    found = load(files.TRAINING)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    assert model.weight.tolist() == [
        [pytest.approx(-0.0063, abs=1e-4), pytest.approx(0.3783, 1e-3)]
    ]
    assert found["model"]._metadata == OrderedDict({"": {"version": 1}})
    assert optimizer.state[model.bias]["step"].item() == 1
    assert optimizer.state[model.bias]["exp_avg"].tolist() == [pytest.approx(0.1)]


def test_a_module_of_pytorch_becomes_ours_if_that_is_allowed():
    with pytest.raises(Exception, match=r"GLOBAL torch\.nn\.modules\.container\.Sequential was"):
        load(files.MODULE)
    found = load(files.MODULE, weights_only=False)
    assert type(found) is torch.nn.Sequential and type(found[0]) is torch.nn.Linear
    assert found(torch.ones(2)).item() == pytest.approx(-0.5393, abs=1e-4)
    with torch.serialization.safe_globals([torch.nn.Sequential, torch.nn.Linear, torch.nn.Tanh]):
        assert load(files.MODULE)[0].out_features == 1


def test_the_format_before_the_archive_is_read():
    found = load(files.LEGACY)
    found["x"][2] = 9
    assert found["x"].tolist() == [0, 1, 9, 3, 4, 5] and found["part"].tolist() == [9, 3]


def test_mapped_tensors_stay_in_the_file_and_do_not_write_to_it(tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(files.VIEWS)
    found = torch.load(path, mmap=True)
    found["x"][2] = 9
    assert found["part"].tolist() == [9, 3]
    assert path.read_bytes() == files.VIEWS


def test_conjugate_and_negative_views_are_saved_as_such():
    x = torch.tensor([1 + 2j, 3 - 4j])
    base, conj, both = saved_and_loaded((x, x.conj(), x.conj()._neg_view()))
    neg = saved_and_loaded(x.conj().imag)
    signs = [(t.is_conj(), t.is_neg()) for t in (base, conj, neg, both)]
    assert signs == [(False, False), (True, False), (False, True), (True, True)]
    conj[0] = 9j
    assert base.tolist() == [-9j, 3 - 4j]
    assert neg.tolist() == [-2, 4] and both.tolist() == [-9j, -3 - 4j]


def saved_and_loaded(x):
    file = io.BytesIO()
    torch.save(x, file)
    return load(file.getvalue())
