"""Max unpooling, and fractional max pooling with its random windows."""

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


def test_random_windows_are_those_of_pytorch():
    x = torch.arange(25.0).reshape(1, 5, 5)
    torch.manual_seed(3)
    values, indices = F.fractional_max_pool2d(x, 2, output_size=3, return_indices=True)
    assert indices.tolist() == [[[6, 7, 9], [11, 12, 14], [21, 22, 24]]]
    assert values.tolist() == [[[6, 7, 9], [11, 12, 14], [21, 22, 24]]]
    x = torch.arange(125.0, dtype=torch.float64).reshape(1, 5, 5, 5)
    torch.manual_seed(3)
    indices = F.fractional_max_pool3d(x, 2, output_ratio=0.6, return_indices=True)[1]
    assert indices[0, 0].tolist() == [[31, 32, 34], [36, 37, 39], [46, 47, 49]]


def test_given_samples_place_the_windows():
    x = torch.arange(100.0).reshape(1, 1, 10, 10)
    samples = torch.tensor([[[0.3, 0.9]]])
    y = F.fractional_max_pool2d(x, 2, output_size=4, _random_samples=samples)
    assert (y[0, 0, :, 0] // 10 - 1).tolist() == [0, 3, 5, 8]
    assert (y[0, 0, 0] % 10 - 1).tolist() == [0, 3, 6, 8]
    with raises(RuntimeError, "Expect _random_samples to have 3 dimensions, got 2"):
        F.fractional_max_pool2d(x, 2, output_size=4, _random_samples=samples[0])
    with raises(
        ValueError,
        "fractional_max_pool2d requires specifying either an output_size or an output_ratio",
    ):
        F.fractional_max_pool2d(x, 2)
