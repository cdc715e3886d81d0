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


@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "cumsum", "cumprod"])
def test_a_dtype_without_gradients_is_refused_where_one_is_asked_for(name):
    x = torch.ones(2, requires_grad=True)
    args = (0,) if name.startswith("cum") else ()
    with pytest.raises(RuntimeError, match="Autograd not support dtype: Int"):
        getattr(x, name)(*args, dtype=torch.int32)
    with torch.no_grad():
        assert getattr(x, name)(*args, dtype=torch.int32).dtype is torch.int32


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (torch.mean, "Expected out tensor to have dtype double, but got float instead"),
        (torch.nanmean, "nansum: provided dtype must match dtype of result. Got Float and Double."),
        (torch.nansum, "provided dtype must match dtype of result. Got Float and Double."),
    ],
)
def test_a_dtype_that_is_not_that_of_the_result_given_is_refused(function, message):
    x, out = torch.ones(2, 3), torch.zeros(3)
    with pytest.raises(RuntimeError, match=message):
        function(x, 0, dtype=torch.float64, out=out)
    assert out.tolist() == [0, 0, 0]
    assert function(x, 0, dtype=torch.float32, out=out) is out
