"""Linear, Bilinear, Flatten, Dropout and their relatives."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
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


def test_axes_are_joined_and_split():
    x = torch.arange(12.0).reshape(2, 2, 3)
    assert nn.Flatten()(x).shape == (2, 6)
    assert nn.Flatten(0, 1)(x).shape == (4, 3)
    assert nn.Unflatten(2, (3, 1))(x).shape == (2, 2, 3, 1)
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert repr(nn.Unflatten(1, (2, 3))) == "Unflatten(dim=1, unflattened_size=(2, 3))"
    with raises(TypeError, "unflattened_size must be a tuple of ints, but found type int"):
        nn.Unflatten(1, 3)
    message = "unflattened_size must be tuple of ints, but found element of type str at pos 1"
    with raises(TypeError, message):
        nn.Unflatten(1, (2, "a"))


def test_dropout_draws_pytorchs_mask(seed):
    y = F.dropout(torch.ones(20), 0.3)
    zeros = [i for i, v in enumerate(y.tolist()) if v == 0]
    assert zeros == [0, 1, 3, 5, 19]
    assert y[2].item() == pytest.approx(1 / 0.7)


def test_dropout_stands_still_in_evaluation():
    x = torch.ones(3)
    assert nn.Dropout(0.9).eval()(x) is x
    assert F.dropout(x, 0.0) is x
    assert F.dropout(x, 1.0).tolist() == [0.0, 0.0, 0.0]
    assert repr(nn.Dropout(0.2, inplace=True)) == "Dropout(p=0.2, inplace=True)"


def test_dropout_has_a_gradient_where_it_kept():
    x = torch.ones(20, requires_grad=True)
    y = nn.Dropout(0.5)(x)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_a_probability_is_between_0_and_1():
    message = "dropout probability has to be between 0 and 1, but got 2"
    with raises(ValueError, message):
        nn.Dropout(2)
    with raises(ValueError, message):
        F.dropout(torch.ones(1), 2)


def test_a_random_choice_is_one_hot_and_has_a_gradient(seed):
    soft = F.gumbel_softmax(torch.zeros(2, 3))
    expected = [[0.1047, 0.2984, 0.5969], [0.1974, 0.4831, 0.3195]]
    assert soft.tolist() == [pytest.approx(row, abs=1e-4) for row in expected]
    logits = torch.zeros(2, 3, requires_grad=True)
    hard = F.gumbel_softmax(logits, hard=True)
    assert sorted(hard.detach().flatten().tolist()) == pytest.approx([0, 0, 0, 0, 1, 1], abs=1e-6)
    hard[:, 0].sum().backward()
    assert logits.grad.abs().sum().item() > 0


def test_normalize_divides_by_the_norm():
    assert F.normalize(torch.tensor([[3.0, 4.0]])).tolist() == [pytest.approx([0.6, 0.8])]


def test_what_is_missing_is_named():
    with pytest.raises(AttributeError, match=r"has no torch.nn.Bouquet"):
        nn.Bouquet  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no torch.nn.functional.bouquet"):
        F.bouquet  # noqa: B018


def test_linear_as_a_function_names_wrong_arguments():
    with raises(TypeError, "linear(): argument 'input' (position 1) must be Tensor, not int"):
        F.linear(3, torch.ones(2, 3))
    with raises(TypeError, "linear(): argument 'bias' (position 3) must be Tensor, not int"):
        F.linear(torch.ones(2, 3), torch.ones(2, 3), 3)
    double, weight, bias = torch.ones(2, 3, dtype=torch.float64), torch.ones(4, 3), torch.ones(4)
    with raises(RuntimeError, "mat1 and mat2 must have the same dtype, but got Double and Float"):
        F.linear(double, weight, bias)
    with raises(RuntimeError, "mat2 must be a matrix, got 1-D tensor"):
        F.linear(torch.ones(2, 3), torch.ones(3), torch.ones(1))
    message = "both arguments to linear need to be at least 1D, but they are 0D and 2D"
    with raises(RuntimeError, message):
        F.linear(torch.tensor(1.0), weight)
    with raises(RuntimeError, "t() expects a tensor with <= 2 dimensions, but self is 3D"):
        F.linear(torch.ones(2, 3), torch.ones(2, 4, 3))
