"""Functions of layers: what is particular to them, and what is missing."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad import nn
from tests.messages import raises


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


def test_functions_for_overrides_are_there_too():
    assert torch.nn.functional.has_torch_function is torch.overrides.has_torch_function
    assert torch.nn.functional.handle_torch_function is torch.overrides.handle_torch_function
