"""Deformable convolution."""

import pytest

import tapegrad as torch
from tapegrad.compat.torchvision.deform_conv import deform_conv2d, deform_conv2d_backward
from tests.messages import raises


def tensors(groups=1, offset_groups=1):
    torch.manual_seed(0)
    x = torch.rand(2, 4, 5, 6, dtype=torch.float64)
    weight = torch.rand(6, 4 // groups, 3, 2, dtype=torch.float64)
    offset = torch.randn(2, offset_groups * 12, 3, 5, dtype=torch.float64) * 0.7
    mask = torch.rand(2, offset_groups * 6, 3, 5, dtype=torch.float64)
    return x, weight, offset, mask, torch.rand(6, dtype=torch.float64)


def options(groups=1, offset_groups=1, use_mask=True):
    return (2, 1, 1, 0, 1, 1, groups, offset_groups, use_mask)


@pytest.mark.parametrize("groups", [1, 2])
def test_without_offsets_it_is_a_convolution(groups):
    x, weight, offset, mask, bias = tensors(groups)
    y = deform_conv2d(x, weight, 0 * offset, mask, bias, *options(groups, use_mask=False))
    torch.testing.assert_close(
        y, torch.nn.functional.conv2d(x, weight, bias, (2, 1), (1, 0), groups=groups)
    )


def test_whole_offsets_look_elsewhere():
    x, weight, offset, mask, bias = tensors()
    one = torch.zeros_like(offset)
    one[:, 1::2] = 1  # each tap one pixel to the right
    moved = torch.nn.functional.pad(x[..., 1:], (0, 1))
    y = deform_conv2d(x, weight, one, mask, bias, *options(use_mask=False))
    torch.testing.assert_close(y, torch.nn.functional.conv2d(moved, weight, bias, (2, 1), (1, 0)))


@pytest.mark.parametrize(("groups", "offset_groups", "use_mask"), [(1, 1, True), (2, 2, False)])
def test_the_gradient_is_that_of_the_function(groups, offset_groups, use_mask):
    given = [x.requires_grad_() for x in tensors(groups, offset_groups)]
    how = options(groups, offset_groups, use_mask)
    torch.autograd.gradcheck(
        lambda *each: deform_conv2d(*each, *given[3:], *how), given[:3], fast_mode=True
    )
    y = deform_conv2d(*given, *how)
    g = torch.rand_like(y)
    expected = torch.autograd.grad(y, given, g, materialize_grads=True)
    found = deform_conv2d_backward(g, *[x.detach() for x in given], *how)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize(
    ("index", "shape", "message"),
    [
        (1, (6, 3, 3, 2), "input.shape[1] (4) must be weight.shape[1] * n_weight_grps (3 * 1)"),
        (2, (2, 10, 3, 5), "offset.shape[1] is not valid: got: 10 expected: 12"),
        (2, (2, 12, 3, 4), "offset output dims: (3, 4) - computed output dims: (3, 5)"),
    ],
)
def test_other_shapes_are_errors(index, shape, message):
    given = list(tensors())
    given[index] = torch.rand(shape, dtype=torch.float64)
    with raises(RuntimeError, message):
        deform_conv2d(*given, *options())
