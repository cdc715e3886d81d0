"""Adaptive pooling: windows that share out the image."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tests.messages import raises_beginning

X = torch.arange(25.0).reshape(1, 5, 5)


def test_adaptive_means_share_out_the_image():
    assert F.adaptive_avg_pool2d(X, (2, 3)).tolist() == [[[5.5, 7, 8.5], [15.5, 17, 18.5]]]
    node = F.adaptive_avg_pool2d(X.clone().requires_grad_(), 1).grad_fn
    assert type(node).__name__ == "MeanBackward1"


def test_adaptive_windows_share_out_the_image():
    x = torch.arange(25.0).reshape(1, 5, 5)
    values, indices = F.adaptive_max_pool2d(x, (2, 3), return_indices=True)
    assert values.tolist() == [[[11, 13, 14], [21, 23, 24]]]
    assert indices.tolist() == [[[11, 13, 14], [21, 23, 24]]]
    assert F.adaptive_max_pool2d(x, (None, 1)).shape == (1, 5, 1)
    pair = torch.adaptive_max_pool1d(x, 1)
    assert type(pair) is tuple and pair[1].tolist() == [[[4], [4], [4], [4], [4]]]


REFUSED = (  # the function, the input's shape, the sizes, and PyTorch's error
    ("max_pool2d", (2, 0), [1], "Expected 3D or 4D tensor, but got: [2, 0]"),
    ("max_pool2d", (2, 0, 2), [1], "Expected input to have non-zero size for non-batch dimensions"),
    ("max_pool3d", (2, 2, 2, 2), [1], "internal error: output_size.size() must be 3"),
    ("avg_pool3d", (2, 0), 2, "Expected input to have non-zero size for non-batch dimensions"),
)


@pytest.mark.parametrize(("name", "shape", "sizes", "text"), REFUSED)
def test_inputs_are_looked_at_before_sizes(name, shape, sizes, text):
    with raises_beginning(RuntimeError, f"adaptive_{name}(): {text}"):
        getattr(F, "adaptive_" + name)(torch.zeros(shape), sizes)


def test_no_images_are_pooled_to_none():
    assert F.adaptive_max_pool1d(torch.zeros(0, 2), 1).shape == (0, 1)
    assert F.adaptive_max_pool2d(torch.zeros(0, 2, 2), 1).shape == (0, 1, 1)
