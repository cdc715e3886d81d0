"""Standard deviations whose squares float32 cannot hold, and long running sums of exponentials."""

import math

import pytest

import tapegrad as torch


@pytest.mark.parametrize("scale", [1e-30, 1e-23, 1.0, 1e19, 1e37])
@pytest.mark.parametrize("dim", [None, 0])
def test_deviations_of_any_size(scale, dim):
    x = torch.tensor([1.0, 2.0, 4.0]).mul(scale).requires_grad_()
    y = x.std(dim)
    exact = math.sqrt(7 / 3)
    assert y.item() == pytest.approx(exact * scale, rel=1e-6)
    y.backward()
    slopes = [(v - 7 / 3) / 2 / exact for v in (1, 2, 4)]
    assert x.grad.tolist() == pytest.approx(slopes, rel=1e-5)


def test_deviations_of_rows_of_different_size_and_under_vmap():
    x = torch.tensor([[1.0, 2.0, 4.0], [1e19, 2e19, 4e19], [1e-23, 2e-23, 4e-23], [3.0, 3.0, 3.0]])
    expected = [1.527525, 1.527525e19, 1.527525e-23, 0]
    assert x.std(1).tolist() == pytest.approx(expected, rel=1e-6)
    assert torch.func.vmap(torch.std)(x).tolist() == pytest.approx(expected, rel=1e-6)


def test_no_deviation_and_no_number():
    assert torch.full((3,), 2.0).std().item() == 0
    assert math.isnan(torch.tensor([1.0, math.nan]).std())
    assert math.isnan(torch.tensor([1.0, math.inf]).std())


def test_integers_are_refused_in_one_wording():
    x = torch.ones(3, dtype=torch.int64)
    for call in (x.var, x.std, lambda: torch.var(x, 0), lambda: torch.std(x, True)):
        with pytest.raises(
            RuntimeError, match=r"^std and var only support floating point and comp"
        ):
            call()
    with pytest.raises(RuntimeError, match=r"^var_mean only support floating point and complex"):
        torch.var_mean(x)


@pytest.mark.parametrize("scale", [1e15, 1e18, 1e19])
def test_variances_are_finite_where_float32_can_hold_them(scale):
    x = (torch.arange(1000.0) / 1000 * scale).requires_grad_()
    exact = x.detach().double()
    for dim in (None, 0):
        y = x.var(dim)
        assert torch.allclose(y.double(), exact.var(dim), rtol=1e-5)
        (g,) = torch.autograd.grad(y, x)
        slope = 2 / 999 * (exact - exact.mean())
        assert torch.allclose(g.double() / scale, slope / scale, rtol=1e-4, atol=1e-8)
    assert x.view(10, 100).var(1).isfinite().all() and torch.var_mean(x)[0].isfinite()
    assert torch.full((3,), 3e38).mul_(torch.tensor([1, -1, 1])).var().isinf()


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dim", [None, 1])
def test_moments_come_from_one_node(name, dim):
    x = torch.tensor([[1.0, 2.0, 4.0], [3.0, 3.0, 3.5]], requires_grad=True)
    spread, middle = getattr(torch, name + "_mean")(x, dim)
    node = spread.grad_fn
    assert node is middle.grad_fn and node.name() == f"{name.title()}MeanBackward0"
    assert (spread.output_nr, middle.output_nr) == (0, 1)
    alone = getattr(torch, name)(x, dim)
    assert torch.equal(spread, alone) and torch.equal(middle, x.mean(dim))
    for y, same in ((spread, alone), (middle, x.mean(dim))):
        (got,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
        assert torch.equal(got, torch.autograd.grad(same.sum(), x)[0])
