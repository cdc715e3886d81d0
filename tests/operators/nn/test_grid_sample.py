"""Sampling at grids: values of each mode and padding, gradients, grids of affine maps."""

import math

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad.operators.nn import grid_sample
from tests.messages import raises
from tests.tolerance import assert_near

X = torch.tensor([[[[1.0, 2.0, 4.0], [3.0, -1.0, 0.0]]]])


GRID = torch.tensor([[[[-1.2, 0.3], [0.1, -0.4], [2.6, 0.9], [0.5, 1.0]]]])


VALUES = {
    ("bilinear", "zeros"): [0.5199998, 1.9850001, 0.0, -0.125],
    ("bilinear", "border"): [2.5999999, 1.9850001, 0.0, -0.25],
    ("bilinear", "reflection"): [2.5999999, 1.9850001, 2.5999985, -0.25],
    ("nearest", "zeros"): [0.0, 2.0, 0.0, 0.0],
    ("nearest", "border"): [3.0, 2.0, 0.0, 0.0],
    ("nearest", "reflection"): [3.0, 2.0, 3.0, 0.0],
    ("bicubic", "zeros"): [0.6044797, 2.2368855, 0.0, -0.5933838],
    ("bicubic", "border"): [2.7228801, 2.0468614, -0.4320000, -0.7374268],
    ("bicubic", "reflection"): [3.0224004, 2.0468614, 2.9526632, -1.1076660],
}


@pytest.mark.parametrize(("mode", "padding"), sorted(VALUES))
def test_each_mode_and_padding_gives_pytorchs_numbers(mode, padding):
    y = F.grid_sample(X, GRID, mode, padding, align_corners=False)
    assert_near(y.flatten(), torch.tensor(VALUES[mode, padding]))


def test_the_gradient_of_the_grid_changes_sign_at_a_mirror():
    grid = GRID.clone().requires_grad_()
    F.grid_sample(X, grid, "bilinear", "reflection", align_corners=True).sum().backward()
    want = [[2.25, 0.5], [1.7, -1.55], [3.75, 0.0], [1.0, 0.0]]
    assert_near(grid.grad[0, 0], torch.tensor(want))


def test_points_outside_do_not_see_infinite_pixels():
    x = torch.full((1, 1, 2, 2), float("inf"))
    grid = torch.full((1, 1, 1, 2), 5.0)
    assert F.grid_sample(x, grid, align_corners=False).item() == 0


def test_the_identity_grid_gives_the_image_back():
    x = torch.rand(2, 3, 4, 5, 6, dtype=torch.float64)
    theta = torch.eye(3, 4, dtype=torch.float64).expand(2, 3, 4)
    for align in (False, True):
        grid = F.affine_grid(theta, x.shape, align_corners=align)
        assert_near(F.grid_sample(x, grid, align_corners=align), x)


def test_both_warn_where_align_corners_is_not_given():
    with pytest.warns(UserWarning, match="Default grid_sample and affine_grid behavior"):
        F.grid_sample(X, GRID)
    with pytest.warns(UserWarning, match="Default grid_sample and affine_grid behavior"):
        F.affine_grid(torch.eye(2, 3)[None], (1, 1, 2, 2))


def test_grids_that_do_not_fit_are_refused_in_pytorchs_words():
    with raises(
        RuntimeError,
        "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes "
        "[1, 1, 4, 3]",
    ):
        F.grid_sample(X, torch.zeros(1, 1, 4, 3), align_corners=False)
    with raises(RuntimeError, "expected scalar type Float but found Double"):
        F.grid_sample(X, GRID.double(), align_corners=False)
    with raises(
        ValueError,
        "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
        "'reflection', but got: 'circular'",
    ):
        F.grid_sample(X, GRID, padding_mode="circular")
    with raises(
        ValueError,
        "Expected a batch of 2D affine matrices of shape Nx2x3 for size (1, 1, 2, 3). Got "
        "torch.Size([2, 3]).",
    ):
        F.affine_grid(torch.ones(2, 3), (1, 1, 2, 3))


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_some_images_at_a_time_give_the_same(mode, monkeypatch):
    torch.manual_seed(0)
    x = torch.randn(5, 2, 4, 3, dtype=torch.float64, requires_grad=True)
    grid = (torch.rand(5, 3, 4, 2, dtype=torch.float64) * 2 - 1).requires_grad_()

    def all_orders():
        y = F.grid_sample(x, grid, mode, align_corners=False)
        first = torch.autograd.grad((y**2).sum(), (x, grid), create_graph=True)
        return [y, *first, *torch.autograd.grad(sum((g**2).sum() for g in first), (x, grid))]

    whole = all_orders()
    monkeypatch.setattr(grid_sample, "_POINTS", 24)
    for found, want in zip(all_orders(), whole, strict=True):
        assert (found - want).abs().max().item() < 1e-12


def test_the_nearest_pixel_gives_the_grid_no_gradient_beside_infinity():
    x = torch.tensor([[[[1.0, float("inf")], [float("nan"), 2.0]]]])
    grid = torch.tensor([[[[0.5, -0.5], [-0.5, 0.5], [1.9, -0.6]]]], requires_grad=True)
    y = F.grid_sample(x, grid, "nearest", align_corners=False)
    y.sum().backward()
    assert grid.grad.tolist() == [[[[0, 0], [0, 0], [0, 0]]]]


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("far", [float("nan"), float("inf"), float("-inf")])
def test_a_point_nowhere_has_no_slope_along_that_axis(n, far):
    x = torch.ones(1, 1, *range(2, n + 2))
    grid = torch.tensor([far] + [0.1] * (n - 1)).reshape(1, *[1] * n, n).requires_grad_()
    F.grid_sample(x, grid, align_corners=False).sum().backward()
    slopes = grid.grad.flatten().tolist()
    assert slopes[0] == 0
    if n == 2:  # what the neighbours outside weigh is unknown
        assert math.isnan(slopes[1])
    else:
        assert slopes[1:] == [0, 0]
