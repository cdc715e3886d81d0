"""Linear, Bilinear and Identity."""

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def test_linear_is_a_product_and_a_sum():
    layer = nn.Linear(3, 2)
    x = torch.ones(5, 3)
    expected = x @ layer.weight.t() + layer.bias
    assert torch.allclose(layer(x), expected)
    assert layer(torch.ones(4, 5, 3)).shape == (4, 5, 2)
    assert layer(torch.ones(3)).shape == (2,)
    assert type(layer(x).grad_fn).__name__ == "AddmmBackward0"


def test_linear_prints_its_sizes():
    assert repr(nn.Linear(3, 2)) == "Linear(in_features=3, out_features=2, bias=True)"
    assert repr(nn.Linear(3, 2, bias=False)) == "Linear(in_features=3, out_features=2, bias=False)"


def test_linear_takes_a_dtype():
    assert nn.Linear(3, 2, dtype=torch.float64).bias.dtype is torch.float64


def test_linear_names_what_does_not_fit():
    with raises(RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"):
        nn.Linear(2, 3)(torch.ones(2, 3))
    message = "Linear.__init__() missing 1 required positional argument: 'out_features'"
    with raises(TypeError, message):
        nn.Linear(2)


def test_bilinear_is_a_form_in_each_input():
    layer = nn.Bilinear(3, 4, 2)
    a, b = torch.randn(5, 3), torch.randn(5, 4)
    expected = torch.stack([((a @ w) * b).sum(1) for w in layer.weight], 1) + layer.bias
    assert torch.allclose(layer(a, b), expected, atol=1e-6)
    assert repr(layer) == "Bilinear(in1_features=3, in2_features=4, out_features=2, bias=True)"
    with raises(ValueError, "in1_features must be > 0, but got (in1_features=0)"):
        nn.Bilinear(0, 2, 3)


def test_identity_takes_anything():
    x = torch.ones(2)
    assert nn.Identity(3, unused=4)(x) is x
    assert repr(nn.Identity(3)) == "Identity()"
