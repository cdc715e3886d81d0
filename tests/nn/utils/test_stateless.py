"""A module called with other parameters."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.func import functional_call
from tests.messages import raises


def test_a_functional_call_leaves_the_module_as_it_was():
    layer = nn.Linear(3, 2)
    before = layer.weight
    weight = torch.ones(2, 3, requires_grad=True)
    y = functional_call(layer, {"weight": weight, "bias": torch.zeros(2)}, torch.ones(1, 3))
    y.sum().backward()
    assert y.tolist() == [[3.0, 3.0]]
    assert weight.grad.tolist() == [[1.0] * 3] * 2
    assert layer.weight is before
    message = "Error(s) in reparametrizing for Linear:\n\tMissing key(s): 'bias'."
    with raises(RuntimeError, message):
        functional_call(layer, {"weight": weight}, torch.ones(1, 3), strict=True)
    with raises(AttributeError, "Linear has no attribute `b`"):
        functional_call(layer, {"b.c": weight}, torch.ones(1, 3))
    with raises(TypeError, "linear(): argument 'input' (position 1) must be Tensor, not int"):
        functional_call(layer, {"weight": weight}, 3)
    assert layer.weight is before


def test_a_functional_call_ties_what_is_tied():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    new = {"0.weight": 2 * torch.eye(2)}
    assert functional_call(model, new, torch.ones(1, 2)).tolist() == [[4.0, 4.0]]
    y = functional_call(model, new, torch.ones(1, 2), tie_weights=False)
    assert torch.equal(y, 2 * model[0](torch.ones(1, 2)))
    both = {"0.weight": torch.eye(2), "1.weight": torch.ones(2, 2)}
    message = (
        "functional_call got multiple values for keys ['0.weight', '1.weight'], which are tied. "
        "Consider using tie_weights=False"
    )
    with raises(ValueError, message):
        functional_call(model, both, torch.ones(1, 2))


def test_a_functional_call_moves_the_given_buffers():
    norm = nn.BatchNorm1d(2)
    tensors = {name: tensor.clone() for name, tensor in norm.state_dict().items()}
    functional_call(norm, tensors, torch.tensor([[1.0, 0.0], [3.0, 4.0]]))
    assert tensors["running_mean"].tolist() == pytest.approx([0.2, 0.2])
    assert tensors["num_batches_tracked"].item() == 1
    assert norm.running_mean.tolist() == [0.0, 0.0]


def test_a_module_has_other_tensors_for_a_while():
    layer = nn.Linear(1, 1)
    before = layer.weight
    with nn.utils.stateless._reparametrize_module(layer, {"weight": torch.zeros(1, 1)}):
        assert layer.weight.tolist() == [[0.0]]
        assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    assert layer.weight is before
    with pytest.raises(RuntimeError, match="reparametrizing for Linear"):
        with nn.utils.stateless._reparametrize_module(layer, {}, strict=True):
            pass
    assert layer.weight is before
