"""Files that go to PyTorch and back, where it is installed."""

import io
from collections import OrderedDict

import pytest

import tapegrad

DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
).split()


def objects(torch):
    """The same objects of one library or the other."""
    x = torch.arange(6.0)
    parameter, named = torch.nn.Parameter(torch.ones(2)), torch.ones(2)
    parameter.tag, named.tag = 1, "x"
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    return {
        "x": x,
        "views": [x[2:4], x.reshape(2, 3).T, x[::2], x[1].expand(3)],
        "dtypes": {name: torch.ones(3).to(getattr(torch, name)) for name in DTYPES},
        "empty": torch.empty(0, 3),
        "last": torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "parameter": parameter,
        "named": named,
        "buffer": torch.nn.Buffer(torch.ones(1)),
        "leaf": torch.ones(2, requires_grad=True),
        "storage": torch.ones(2).untyped_storage(),
        "plain": [torch.float32, torch.Size([1, 2]), torch.device("cuda", 1), torch.strided],
        "numbers": {1: True, 2: 2**70, 3: -1.5, 4: 1j, "é": (None, {1, 2}, b"\xff")},
        "ordered": OrderedDict(a=[[], {}, ()]),
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
    }


def assert_same(ours, theirs):
    assert type(ours).__name__ == type(theirs).__name__
    if isinstance(ours, dict):
        assert [*ours] == [*theirs]
        for a, b in zip(ours.values(), theirs.values(), strict=True):
            assert_same(a, b)
        assert getattr(ours, "_metadata", None) == getattr(theirs, "_metadata", None)
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(ours, tapegrad.Tensor):
        assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
        assert ours.stride() == theirs.stride() and ours.requires_grad == theirs.requires_grad
        assert ours.tolist() == theirs.tolist()
        assert ours.__dict__ == theirs.__dict__
    elif type(ours).__name__ == "UntypedStorage":
        assert ours.tolist() == theirs.tolist()
    elif type(ours).__name__ in ("dtype", "device", "Size", "layout"):
        assert repr(ours) == repr(theirs)
    else:
        assert ours == theirs


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}], ids=repr)
def test_files_of_pytorch_open_here(pytorch, options):
    theirs = objects(pytorch)
    file = io.BytesIO()
    pytorch.save(theirs, file, **options)
    file.seek(0)
    found = tapegrad.load(file)
    assert_same(found, theirs)
    found["x"][2] = 9
    assert [x.tolist() for x in found["views"][:2]] == [[9, 3], [[0, 3], [1, 4], [9, 5]]]


@pytest.mark.parametrize("mmap", [False, True])
def test_our_files_open_in_pytorch(pytorch, mmap, tmp_path):
    ours = objects(tapegrad)
    path = tmp_path / "x.pt"
    tapegrad.save(ours, path)
    theirs = pytorch.load(path, mmap=mmap)  # with weights_only=True, the default
    # PyTorch makes a typed storage of bytes, also of its own.
    assert ours.pop("storage").tolist() == theirs.pop("storage")._untyped_storage.tolist()
    assert_same(ours, theirs)
    theirs["x"][2] = 9
    assert [x.tolist() for x in theirs["views"][:2]] == [[9, 3], [[0, 3], [1, 4], [9, 5]]]


def test_a_module_goes_to_pytorch_and_back(pytorch):
    ours = tapegrad.nn.Sequential(tapegrad.nn.Linear(2, 3), tapegrad.nn.ReLU())
    file = io.BytesIO()
    tapegrad.save(ours, file)
    file.seek(0)
    theirs = pytorch.load(file, weights_only=False)
    assert theirs(pytorch.ones(2)).tolist() == pytest.approx(ours(tapegrad.ones(2)).tolist())
    file = io.BytesIO()
    pytorch.save(theirs, file)
    file.seek(0)
    again = tapegrad.load(file, weights_only=False)
    assert again(tapegrad.ones(2)).tolist() == ours(tapegrad.ones(2)).tolist()


def test_refusals_say_what_pytorch_says(pytorch):
    for refused in (print, range(3), pytorch.nn.Linear):
        file = io.BytesIO()
        pytorch.save(refused, file)
        texts = []
        for library in (pytorch, tapegrad):
            file.seek(0)
            with pytest.raises(Exception) as caught:
                library.load(file)
            texts.append(str(caught.value))
        assert texts[0] == texts[1]
