"""Modules that are converted, and load, by making or swapping parameters."""

import pytest

import tapegrad as torch
from tapegrad import nn

future = torch.__future__


@pytest.fixture
def swapping():
    future.set_swap_module_params_on_conversion(True)
    yield
    future.set_swap_module_params_on_conversion(False)


def test_parameters_are_swapped_with_converted_ones(swapping):
    assert future.get_swap_module_params_on_conversion()
    layer = nn.Linear(2, 1)
    weight = layer.weight
    layer(torch.ones(1, 2)).sum().backward()
    grad = weight.grad
    layer.double()
    assert layer.weight is weight and weight.dtype is torch.float64
    assert weight.grad is grad and grad.dtype is torch.float64
    layer.to("meta")
    assert layer.weight is weight and weight.is_meta and type(weight) is nn.Parameter


def test_a_parameter_with_a_view_is_not_swapped(swapping):
    layer = nn.Linear(2, 1)
    view = layer.weight[0]
    with pytest.raises(RuntimeError, match=r"_apply\(\): Couldn't swap Linear.weight"):
        layer.double()
    assert layer.weight.dtype is torch.float32 and view.dtype is torch.float32
    with pytest.raises(RuntimeError, match=r"whose dimensions in the checkpoint are torch.Size"):
        layer.load_state_dict(nn.Linear(2, 1).state_dict())


@pytest.mark.parametrize("assign", [False, True])
def test_a_state_is_swapped_in(swapping, assign):
    layer = nn.Linear(2, 1)
    weight, state = layer.weight, nn.Linear(2, 1).double().state_dict()
    layer.load_state_dict(state, assign=assign)
    assert layer.weight is weight and type(weight) is nn.Parameter and weight.requires_grad
    assert weight.dtype is (torch.float64 if assign else torch.float32)
    assert torch.equal(weight.detach(), state["weight"].to(weight.dtype))


def test_what_module_load_gives_must_be_another_tensor(swapping):
    class Lazy(nn.Parameter):
        def module_load(self, other, assign=False):
            return other

    layer = nn.Linear(2, 1)
    layer.weight = Lazy(torch.zeros(1, 2))
    with pytest.raises(RuntimeError, match="module_load returned one of self or other"):
        layer.load_state_dict(nn.Linear(2, 1).state_dict())


def test_new_parameters_may_be_made_instead():
    layer = nn.Linear(2, 1)
    weight = layer.weight
    future.set_overwrite_module_params_on_conversion(True)
    try:
        assert future.get_overwrite_module_params_on_conversion()
        layer.double()
    finally:
        future.set_overwrite_module_params_on_conversion(False)
    assert layer.weight is not weight and weight.dtype is torch.float32
    assert layer.weight.dtype is torch.float64
