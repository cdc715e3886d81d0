"""Live objects of PyTorch, where it is installed."""

from collections import OrderedDict

import pytest

import tapegrad


def test_objects_without_tensors_need_no_pytorch():
    given = {"a": [1, (2.5, None)], "b": OrderedDict(c={3})}
    for convert in (tapegrad.from_torch, tapegrad.to_torch):
        found = convert(given)
        assert found == given and found is not given and type(found["b"]) is OrderedDict


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "uint16", "complex128"])
def test_tensors_share_their_memory_both_ways(pytorch, dtype):
    theirs = pytorch.zeros(3, dtype=getattr(pytorch, dtype))
    ours = tapegrad.from_torch(theirs)
    assert ours.dtype is getattr(tapegrad, dtype)
    ours[1] = 1
    assert theirs.tolist() == [0, 1, 0]
    back = tapegrad.to_torch(ours)
    back[2] = 1
    assert theirs.tolist() == [0, 1, 1] and back.dtype is theirs.dtype


def test_views_gradients_and_parameters_are_kept(pytorch):
    theirs = pytorch.arange(6.0).reshape(2, 3).T
    leaf = pytorch.nn.Parameter(pytorch.ones(2))
    ours, parameter, again = tapegrad.from_torch([theirs, leaf, leaf])
    assert ours.stride() == (1, 3) and parameter is again
    assert type(parameter) is tapegrad.nn.Parameter and parameter.requires_grad
    back = tapegrad.to_torch(parameter)
    assert type(back) is pytorch.nn.Parameter and back.data_ptr() == leaf.data_ptr()


def test_dtypes_devices_and_sizes_are_translated(pytorch):
    ours = (tapegrad.float32, tapegrad.device("cpu"), tapegrad.Size([1, 2]))
    theirs = (pytorch.float32, pytorch.device("cpu"), pytorch.Size([1, 2]))
    assert tapegrad.to_torch(ours) == theirs and tapegrad.from_torch(theirs) == ours


def test_a_model_of_pytorch_becomes_ours(pytorch):
    nn = pytorch.nn
    tied = nn.Linear(4, 4)
    theirs = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), tied, tied).eval()
    ours = tapegrad.from_torch(theirs)
    x = pytorch.randn(2, 3)
    want = theirs(x).detach().numpy()
    assert ours(tapegrad.from_torch(x)).detach().numpy() == pytest.approx(want, rel=1e-5, abs=1e-6)
    assert ours[3] is ours[4] and not ours.training
    before = theirs[0].bias[0].item()
    ours[0].bias.data[0] = before + 1
    assert theirs[0].bias[0].item() == before  # modules are copied


def test_a_module_takes_the_numbers_of_the_other(pytorch):
    theirs, ours = pytorch.nn.GRU(2, 3), tapegrad.nn.Linear(2, 3)
    with pytest.raises(RuntimeError, match="loading state_dict for Linear"):
        tapegrad.from_torch(theirs, into=ours)
    theirs = pytorch.nn.Linear(2, 3)
    assert tapegrad.from_torch(theirs, into=ours) is ours
    assert ours.weight.tolist() == theirs.weight.tolist()
    ours.bias.data.zero_()
    assert tapegrad.to_torch(ours, into=theirs).bias.tolist() == [0, 0, 0]
    with pytest.raises(TypeError, match="needs into="):
        tapegrad.to_torch(ours)


def test_what_has_no_counterpart_is_refused(pytorch):
    for given in (
        pytorch.ones(1).to_sparse(),
        pytorch.quint8,
        pytorch.nn.functional.relu,
        pytorch.nn.Sequential(type("Net", (pytorch.nn.Module,), {})()),
    ):
        with pytest.raises(NotImplementedError):
            tapegrad.from_torch(given)
