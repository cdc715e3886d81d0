"""Lazy modules: what they are before their first call, and what they become."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn.parameter import is_lazy


def test_a_lazy_layer_becomes_an_ordinary_one():
    torch.manual_seed(0)
    layer = nn.LazyLinear(2)
    assert repr(layer) == "LazyLinear(in_features=0, out_features=2, bias=True)"
    layer(torch.ones(1, 2))
    assert type(layer) is nn.Linear
    assert type(layer.weight) is nn.Parameter
    assert layer.in_features == 2
    assert layer.weight[0].tolist() == pytest.approx([-0.005293981172, 0.379322886467])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_channels_come_from_the_first_input(n):
    x = torch.ones(2, 4, *(5,) * n)
    conv = getattr(nn, f"LazyConv{n}d")(3, 2)
    transposed = getattr(nn, f"LazyConvTranspose{n}d")(3, 2)
    norm = getattr(nn, f"LazyBatchNorm{n}d")()
    assert conv(x).shape == (2, 3, *(4,) * n)
    assert transposed(x).shape == (2, 3, *(6,) * n)
    assert norm(x).shape == x.shape
    assert type(conv) is getattr(nn, f"Conv{n}d") and conv.in_channels == 4
    assert type(transposed) is getattr(nn, f"ConvTranspose{n}d")
    assert norm.running_mean.shape == (4,) and norm.num_batches_tracked.item() == 1


def test_a_parameter_without_shape_does_not_compute():
    weight = nn.LazyLinear(2).weight
    assert is_lazy(weight) and repr(weight) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = weight.shape
    for use in (
        lambda: weight + 1,
        lambda: weight.sum(),
        lambda: torch.sum(weight),
        weight.__len__,
    ):
        with pytest.raises((ValueError, RuntimeError), match="uninitialized parameter"):
            use()


def test_lazy_layers_are_converted_copied_and_pickled():
    layer = nn.LazyConv2d(3, 2).double()
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert type(twin) is nn.LazyConv2d
        assert twin(torch.ones(1, 2, 4, 4, dtype=torch.float64)).dtype == torch.float64
    assert layer.has_uninitialized_params()


def test_a_state_gives_a_lazy_layer_its_shapes():
    source, layer = nn.Linear(4, 2), nn.LazyLinear(2)
    waiting = nn.LazyLinear(2)
    waiting.load_state_dict(layer.state_dict())
    assert waiting.has_uninitialized_params()
    layer.load_state_dict(source.state_dict())
    assert torch.equal(layer(torch.ones(1, 4)), source(torch.ones(1, 4)))
    assert type(layer) is nn.Linear and layer.in_features == 4


def test_a_lazy_layer_refuses_what_it_cannot_take():
    layer = nn.LazyConv2d(3, 3)
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input"):
        layer(torch.ones(2, 2))
    assert layer.has_uninitialized_params()
