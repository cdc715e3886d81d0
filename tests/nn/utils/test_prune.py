"""Pruning. The masks are PyTorch's for the same seed."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn.utils import prune
from tests.messages import raises


def test_a_pruned_weight_is_masked_and_learns_where_it_is_left():
    torch.manual_seed(0)
    layer = prune.l1_unstructured(nn.Linear(4, 3), "weight", 2)
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert layer.weight_mask.tolist() == [[0, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 1]]
    layer(torch.ones(1, 4)).sum().backward()
    assert torch.equal(layer.weight_orig.grad, layer.weight_mask)
    assert prune.is_pruned(nn.Sequential(layer))


def test_pruning_goes_on_with_what_is_left():
    torch.manual_seed(0)
    layer = prune.random_unstructured(nn.Linear(4, 3), "weight", 0.3)
    assert layer.weight_mask.tolist() == [[1, 1, 0, 1], [1, 1, 0, 1], [0, 1, 1, 0]]
    prune.random_unstructured(layer, "weight", 2)
    assert layer.weight_mask.tolist() == [[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
    prune.random_structured(layer, "weight", 1, dim=0)
    assert layer.weight_mask.tolist() == [[0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]]
    (hook,) = layer._forward_pre_hooks.values()
    assert len(hook) == 3


def test_the_shortest_slices_go_first():
    layer = nn.Linear(2, 3)
    layer.weight.data = torch.tensor([[3.0, 4.0], [1.0, 1.0], [2.0, 2.0]])
    prune.ln_structured(layer, "weight", 2, n=2, dim=0)
    assert layer.weight.tolist() == [[3.0, 4.0], [0.0, 0.0], [0.0, 0.0]]


def test_several_parameters_are_pruned_as_one():
    a, b = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)
    a.weight.data, b.weight.data = torch.tensor([[1.0, 5.0]]), torch.tensor([[2.0, -3.0]])
    pairs = [(a, "weight"), (b, "weight")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=2)
    assert a.weight.tolist() == [[0.0, 5.0]]
    assert b.weight.tolist() == [[0.0, -3.0]]


def test_what_was_pruned_can_be_made_lasting():
    layer = prune.l1_unstructured(nn.Linear(2, 2), "weight", 3)
    zeros = layer.weight == 0
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)
    assert torch.equal(layer.weight == 0, zeros) and int(zeros.sum()) == 3
    assert not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(layer, "weight")


def test_amounts_that_cannot_be_leave_the_module_as_it_was():
    layer = nn.Linear(2, 2)
    with raises(ValueError, "amount=20 should be smaller than the number of parameters to prune=4"):
        prune.l1_unstructured(layer, "weight", 20)
    message = "amount=1.5 should either be a float in the range [0, 1] or a non-negative integer"
    with raises(ValueError, message):
        prune.l1_unstructured(layer, "weight", 1.5)
    with raises(TypeError, "Invalid type for amount: a. Must be int or float."):
        prune.l1_unstructured(layer, "weight", "a")
    message = "Structured pruning can only be applied to multidimensional tensors. "
    with raises(ValueError, message + "Found tensor of shape torch.Size([2]) with 1 dims"):
        prune.ln_structured(layer, "bias", 1, 2, 0)
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert not prune.is_pruned(layer)
