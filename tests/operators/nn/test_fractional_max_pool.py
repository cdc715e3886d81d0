"""Fractional max pooling and its random windows."""

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.messages import raises


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


def test_one_number_in_a_tuple_is_no_size():
    x = torch.ones(2, 7, 7)
    text = "fractional_max_pool2d: {} must either be a single Int or tuple of Ints"
    with raises(RuntimeError, text.format("kernel_size")):
        F.fractional_max_pool2d(x, (1,), output_size=(3, 3))
    with raises(RuntimeError, text.format("output_size")):
        F.fractional_max_pool2d(x, (2, 2), output_size=(3,))
