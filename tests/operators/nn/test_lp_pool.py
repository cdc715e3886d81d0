"""Lp pooling."""

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.tolerance import assert_near


def test_lp_pooling_takes_the_norm_of_each_window():
    x = torch.tensor([[3.0, 4.0, 6.0, 8.0]])
    assert_near(F.lp_pool1d(x, 2, 2), torch.tensor([[5.0, 10.0]]))
    assert_near(F.lp_pool1d(x, 1, 2, stride=1), torch.tensor([[7.0, 10.0, 14.0]]))
