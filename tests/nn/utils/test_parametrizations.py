"""Norms of weights and orthogonal weights, as parametrisations."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn.utils import parametrizations
from tests.messages import raises


def test_weight_norm_splits_length_and_direction():
    layer = nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer)
    assert layer.parametrizations.weight.original0.shape == (2, 1)
    assert torch.allclose(layer.weight, before)
    with pytest.warns(FutureWarning, match="deprecated in favor of"):
        old = nn.utils.weight_norm(nn.Linear(3, 2))
    assert list(old.state_dict()) == ["bias", "weight_g", "weight_v"]
    layer.load_state_dict(old.state_dict())
    assert torch.equal(layer(torch.ones(1, 3)), old(torch.ones(1, 3)))
    assert list(nn.utils.remove_weight_norm(old).state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found in Linear"):
        nn.utils.remove_weight_norm(old)


def test_spectral_norm_finds_the_largest_singular_value():
    torch.manual_seed(0)
    layer = parametrizations.spectral_norm(nn.Linear(3, 2))
    assert layer.parametrizations.weight[0]._u.tolist() == pytest.approx([0.785607, -0.618725])
    assert layer.weight[0].tolist() == pytest.approx([-0.006573, 0.470961, -0.722570], abs=1e-5)
    layer.eval()
    assert torch.equal(layer.weight, layer.weight)


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(3, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights_stay_orthogonal(kind, sizes, trivial):
    torch.manual_seed(0)
    layer = nn.Linear(*sizes)
    parametrizations.orthogonal(layer, orthogonal_map=kind, use_trivialization=trivial)
    original = layer.parametrizations.weight.original
    (layer.weight**3).sum().backward()
    original.data = original - 0.1 * original.grad
    weight = layer.weight
    square = weight @ weight.t() if sizes[0] >= sizes[1] else weight.t() @ weight
    assert torch.allclose(square, torch.eye(min(sizes)), atol=1e-5)


def test_orthogonal_weights_begin_as_in_pytorch():
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(nn.Linear(3, 2))
    start = [-0.007620453834533691, 0.5460197925567627, -0.8377375602722168]
    assert layer.weight[0].tolist() == pytest.approx(start, abs=1e-5)
    assert layer.parametrizations.weight.original.tolist() == [[-1, 0, 0], [0, -1, 0]]
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley")
    layer.weight = torch.eye(3)
    assert torch.equal(layer.weight, torch.eye(3))
    with raises(
        ValueError, "Expected a matrix or batch of matrices. Got a tensor of 1 dimensions."
    ):
        parametrizations.orthogonal(nn.Linear(2, 2), "bias")
    message = 'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: x'
    with raises(ValueError, message):
        parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="x")
