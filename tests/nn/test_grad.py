"""torch.nn.grad: the derivatives of convolutions are those of the backward pass."""

import pytest

import tapegrad as torch
from tapegrad.nn import functional as F

CASES = [
    ({}, 1),
    ({"stride": 2}, 1),
    ({"stride": 2, "padding": 1, "dilation": 2}, 1),
    ({"stride": 3, "padding": 2, "groups": 2}, 2),
]


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("options", "groups"), CASES)
def test_both_derivatives_are_those_of_the_backward_pass(n, options, groups, seed):
    kernel = (2, 3, 1)[:n]
    x = torch.randn(2, 2 * groups, *(8, 9, 5)[:n], dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3 * groups, 2, *kernel, dtype=torch.float64, requires_grad=True)
    y = getattr(F, f"conv{n}d")(x, weight, **options)
    g = torch.randn_like(y)
    by_x, by_weight = torch.autograd.grad(y, (x, weight), g)
    home = torch.nn.grad
    result = getattr(home, f"conv{n}d_input")(x.shape, weight, g, **options)
    assert result.shape == by_x.shape and torch.allclose(result, by_x)
    result = getattr(home, f"conv{n}d_weight")(x, weight.shape, g, **options)
    assert result.shape == by_weight.shape and torch.allclose(result, by_weight)


def test_a_number_for_each_dimension_is_taken_and_gradients_pass():
    x = torch.ones(1, 1, 4, 6, requires_grad=True)
    g = torch.ones(1, 1, 3, 3, requires_grad=True)
    result = torch.nn.grad.conv2d_weight(x, (1, 1, 2, 2), g, stride=(1, 2), padding=(0, 0))
    result.sum().backward()
    assert result.shape == (1, 1, 2, 2) and x.grad.sum() == 36 and g.grad.sum() == 36


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: torch.nn.grad.conv2d_input(
                (1, 1, 4, 4), torch.ones(1, 1, 3, 3), torch.ones(1, 1, 3, 3)
            ),
            "Expected a tensor of dimension 4 and tensor.size[2] == 2 but got: dimension 4 and "
            "tensor.size[2] = 3",
        ),
        (
            lambda: torch.nn.grad.conv2d_weight(
                torch.ones(1, 1, 4, 4), (1, 1, 3, 3), torch.ones(1, 2, 2, 2)
            ),
            "Expected a tensor of dimension 4 and tensor.size[1] == 1 but got: dimension 4 and "
            "tensor.size[1] = 2",
        ),
        (
            lambda: torch.nn.grad.conv2d_input(
                (1, 4, 4), torch.ones(1, 1, 3, 3), torch.ones(1, 2, 2)
            ),
            "Expected 4-dimensional input for 4-dimensional weight [1, 1, 3, 3], but got "
            "3-dimensional input of size [1, 4, 4] instead",
        ),
    ],
)
def test_a_gradient_of_another_shape_is_refused(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == message
