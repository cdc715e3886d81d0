"""Sums and means: which overload `dim=None` is."""

import pytest

import tapegrad as torch


@pytest.mark.parametrize("name", ["sum", "mean"])
def test_a_dim_of_none_is_the_overload_with_a_dim(name):
    x = torch.ones(2, 3, requires_grad=True)
    function, method = getattr(torch, name), getattr(x, name)
    reduced = [function(x, None), method(dim=None), function(x, axis=None), method(())]
    assert {y.grad_fn.name() for y in reduced} == {f"{name.title()}Backward1"}
    assert method().grad_fn.name() == f"{name.title()}Backward0"
    assert method(axis=None, keepdims=True).shape == (1, 1)
    with pytest.raises(TypeError, match=rf"{name}\(\) received an invalid combination"):
        method(keepdim=True)
