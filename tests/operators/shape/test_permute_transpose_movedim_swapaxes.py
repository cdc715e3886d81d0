"""The order of dimensions: how it may be given."""

import pytest

import tapegrad as torch


def test_the_function_takes_one_tuple_and_the_method_also_numbers():
    x = torch.zeros(2, 3)
    assert torch.permute(x, (1, 0)).shape == x.permute(1, 0).shape == x.permute((1, 0)).shape
    with pytest.raises(
        TypeError, match=r"argument 'dims' \(position 2\) must be tuple of ints, not "
    ):
        torch.permute(x, 2)
    with pytest.raises(
        TypeError, match=r"permute\(\) takes 2 positional arguments but 3 were given"
    ):
        torch.permute(x, 1, 0)
