"""Lp pooling."""

from math import inf

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.tolerance import assert_near


def test_lp_pooling_takes_the_norm_of_each_window():
    x = torch.tensor([[3.0, 4.0, 6.0, 8.0]])
    assert_near(F.lp_pool1d(x, 2, 2), torch.tensor([[5.0, 10.0]]))
    assert_near(F.lp_pool1d(x, 1, 2, stride=1), torch.tensor([[7.0, 10.0, 14.0]]))


def test_the_norm_of_infinity_is_the_largest_absolute_value():
    x = torch.arange(8.0) - 4
    x = x.view(1, 1, 8)
    assert F.lp_pool1d(x, inf, 2).tolist() == [[[4.0, 2.0, 1.0, 3.0]]]
    assert F.lp_pool1d(x, -inf, 2).tolist() == [[[3.0, 1.0, 0.0, 2.0]]]
    assert F.lp_pool2d(x.view(1, 1, 2, 4), inf, 2).tolist() == [[[[4.0, 3.0]]]]
    assert F.lp_pool3d(x.view(1, 1, 2, 2, 2), inf, 2).tolist() == [[[[[4.0]]]]]
