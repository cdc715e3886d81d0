"""Max unpooling."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.messages import raises


@pytest.mark.parametrize("n", [1, 2, 3])
def test_unpooling_puts_back_what_pooling_found(n):
    torch.manual_seed(0)
    x = torch.rand(2, 3, *(6, 4, 8)[:n])
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1]
    unpool = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[n - 1]
    y, indices = pool(x, 2, return_indices=True)
    z = unpool(y, indices, 2)
    assert z.shape == x.shape and (z != 0).sum() == y.numel()
    assert (pool(z, 2) == y).all()
    assert (z[z != 0] == x[z != 0]).all()


def test_the_size_before_pooling_can_be_said():
    y, indices = torch.tensor([[4.0, 5.0]]), torch.tensor([[1, 4]])
    assert F.max_unpool1d(y, indices, 2, output_size=(5,)).tolist() == [[0, 4, 0, 0, 5]]
    with raises(ValueError, 'invalid output_size "(9,)" (dim 0 must be between 2 and 6)'):
        F.max_unpool1d(y, indices, 2, output_size=(9,))
    with raises(RuntimeError, "Found an invalid max index: 4 (output volumes are of size 4x1)"):
        F.max_unpool1d(y, indices, 2)


def test_the_last_of_several_elements_for_a_place_counts():
    y, indices = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[0, 0]]])
    assert F.max_unpool2d(y, indices, 1).tolist() == [[[2, 0]]]


def test_sizes_and_strides_that_cannot_be_are_refused():
    y, indices = torch.ones(1, 3, 1, 1, 1), torch.zeros(1, 3, 1, 1, 1, dtype=torch.int64)
    three = "There should be exactly three elements (depth, height, width) in "
    with raises(RuntimeError, three + "output_size, but got 2 elements."):
        F.max_unpool3d(y, indices, [1, 1])
    with raises(RuntimeError, three + "stride, but got: 4 elements."):
        F.max_unpool3d(y, indices, 1, [1, 1, 1, 1])
    negative = "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
    with raises(ValueError, negative + "output_size[0]=-2"):
        F.max_unpool2d(y[0], indices[0], 2, 2, 2)
    assert F.max_unpool2d(y[0], indices[0], 2, 2, 1).shape == (3, 1, 0, 0)
