"""Grids of affine maps."""

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.tolerance import assert_near


def test_affine_grids_are_pytorchs():
    theta = torch.tensor([[[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]]])
    grid = F.affine_grid(theta, (1, 1, 2, 3), align_corners=False)
    want = [
        [[-7 / 6, -1.5], [-0.5, -1.5], [1 / 6, -1.5]],
        [[5 / 6, -0.5], [1.5, -0.5], [13 / 6, -0.5]],
    ]
    assert_near(grid, torch.tensor([want]))


def test_sizes_may_be_tensors_of_one_whole_number():
    theta = torch.eye(2, 3)[None]
    size = [1, 1, torch.tensor(2), torch.tensor(3)]
    assert torch.equal(
        F.affine_grid(theta, size, align_corners=False),
        F.affine_grid(theta, [1, 1, 2, 3], align_corners=False),
    )
