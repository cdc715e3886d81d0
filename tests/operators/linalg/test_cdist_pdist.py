"""Distances between all vectors of two sets, against PyTorch 2.13."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.operators.waves import cosines, sines, value_and_gradients

F = torch.nn.functional


INF = float("inf")


def near(values):
    return pytest.approx(values, abs=1e-8)


ALL_PAIRS = {
    0.7: (
        [6.581878774, 3.167331716, 5.907917942, 8.51285943],
        [2.883399939, 5.646247457, -0.395278037, 3.154546795],
        [6.403337497, 0.600889102, -3.62992225, -0.237667018],
    ),
    1: (
        [3.757725447, 1.875107526, 3.783164546, 5.03973951],
        [1.0, 3.0, 1.0, 1.0],
        [3.0, 1.0, -1.0, -1.0],
    ),
    2: (
        [2.031482357, 1.056641268, 2.483598343, 2.839942067],
        [0.184938029, 1.381828313, 1.308272019, 0.031896463],
        [1.169440796, 1.085326916, 0.003368475, -1.081686926],
    ),
    INF: (
        [1.325444263, 0.653643621, 1.752601247, 1.756802495],
        [1.0, 1.0, 1.0, 0.0],
        [1.0, 1.0, -1.0, 0.0],
    ),
}


@pytest.mark.parametrize("p", ALL_PAIRS)
def test_cdist_is_pytorchs_for_each_order(p):
    y, of_x1, of_x2 = value_and_gradients(
        lambda a, b: torch.cdist(a, b, p), sines(3, 4), cosines(3, 4)
    )
    for got, want in zip((y, of_x1, of_x2), ALL_PAIRS[p], strict=True):
        assert got[:4] == near(want)


@pytest.mark.parametrize("p", [0.5, 1, 1.5, 2, 3, INF])
def test_the_gradient_of_a_distance_zero_is_zero(p):
    z = torch.tensor([[1.0, 2], [1, 2], [3, 2]]).double()
    _, gradient = value_and_gradients(lambda a: torch.cdist(a, z, p), z)
    assert gradient == pytest.approx([-1, 0, -1, 0, 2, 0], rel=1e-15)


def test_both_ways_to_euclidean_distances_agree():
    a, b = sines(2, 30, 4), cosines(5, 4)
    modes = ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    results = [
        value_and_gradients(lambda a, b, m=mode: torch.cdist(a, b, compute_mode=m), a, b)
        for mode in modes
    ]
    for by_product, directly in zip(*results, strict=True):
        assert by_product == pytest.approx(directly, abs=1e-11)
    a.requires_grad_()
    assert repr(torch.cdist(a, b)).endswith("grad_fn=<ViewBackward0>)")
    assert type(torch.cdist(a[:, :3], b).grad_fn).__name__ == "CdistBackward0"


def test_batches_of_cdist_broadcast():
    assert torch.cdist(torch.zeros(2, 1, 3, 4), torch.ones(7, 5, 4), 1).shape == (2, 7, 3, 5)
    assert torch.cdist(torch.zeros(0, 4), torch.ones(5, 4)).shape == (0, 5)
    assert torch.cdist(torch.zeros(2, 0), torch.ones(1, 0)).tolist() == [[0], [0]]


def test_blocks_of_cdist_give_what_one_piece_gives():
    a, b = sines(3, 600, 70), cosines(3, 40, 70)
    y = torch.cdist(a, b, 1)
    assert y[1, 599, 39].item() == pytest.approx((a[1, 599] - b[1, 39]).abs().sum().item())


def test_pdist_is_the_upper_triangle_of_cdist():
    y, gradient = value_and_gradients(lambda x: torch.pdist(x, 1.5), sines(3, 4))
    assert y == near([2.822018713, 2.618173781, 3.368303381])
    assert gradient[:4] == near([-0.096861532, 1.203693267, 1.394063413, 0.232631525])
    assert torch.pdist(torch.ones(1, 3)).shape == (0,)


def test_second_derivatives_of_distances_exist():
    x = sines(4, 3).requires_grad_()
    (g,) = torch.autograd.grad(torch.pdist(x, 3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad((g * cosines(4, 3)).sum(), x)
    assert h.isfinite().all() and h.abs().sum() > 0.1


def test_vectors_that_do_not_fit_are_refused():
    x = torch.ones(3, 4)
    with raises(RuntimeError, "X1 and X2 must have the same number of columns. X1: 4 X2: 5"):
        torch.cdist(x, torch.ones(3, 5))
    with raises(RuntimeError, "cdist only supports at least 2D tensors, X1 got: 1D"):
        torch.cdist(x[0], x)
    with raises(RuntimeError, "cdist only supports non-negative p values"):
        torch.cdist(x, x, -1)
    with raises(RuntimeError, "pdist only supports 2D tensors, got: 1D"):
        torch.pdist(x[0])
    with raises(
        RuntimeError, "expected common dtype to be floating point, yet common dtype is Long"
    ):
        F.cosine_similarity(x.long(), x.long())
    with raises(
        RuntimeError, "bilinear(): input1 size does not match weight size: got 4 but expected 5"
    ):
        F.bilinear(x, x, torch.ones(2, 5, 4))


def test_counting_differences_passes_on_nan():
    x = torch.tensor([[1.0, math.nan, 2.0], [1.0, 3.0, 2.0], [0.0, 3.0, 4.0]])
    nan = math.nan
    assert torch.nn.functional.pdist(x, 0).tolist() == pytest.approx([nan, nan, 2], nan_ok=True)
    assert torch.cdist(x, x, 0)[1].tolist() == pytest.approx([nan, 0, 2], nan_ok=True)


def test_gradients_at_infinities_are_those_of_pytorch():
    nan, inf = float("nan"), float("inf")
    x = torch.tensor([[inf, 2.5], [0.5, 88.0]], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.pdist(x, 1).sum(), x)
    assert slope.tolist() == [[1, -1], [-1, 1]]
    (slope,) = torch.autograd.grad(torch.pdist(x, inf).sum(), x)
    assert str(slope.tolist()) == str([[nan, 0.0], [nan, 0.0]])
