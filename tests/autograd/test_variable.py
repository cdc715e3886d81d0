"""Variable, as PyTorch 2.13 still has it."""

import pytest

import tapegrad as torch
from tapegrad.autograd import Variable
from tests.messages import raises


def test_a_variable_is_a_tensor_without_history_on_the_same_memory():
    x = torch.ones(2, requires_grad=True) * 2
    v = Variable(x)
    assert type(v) is torch.Tensor and not v.requires_grad
    x.add_(1)
    assert v.tolist() == [3, 3] and v._version == 1
    assert repr(Variable(x, requires_grad=True)) == "tensor([3., 3.], requires_grad=True)"
    assert Variable().shape == (0,)


def test_every_tensor_is_a_variable():
    assert isinstance(torch.ones(2), Variable) and not isinstance(3, Variable)
    assert repr(Variable) == "<class 'torch.autograd.variable.Variable'>"


def test_data_is_a_tensor():
    with raises(TypeError, "Variable data has to be a tensor, but got list"):
        Variable([1, 2.0])
    with raises(
        RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"
    ):
        Variable(torch.tensor([1, 2]), requires_grad=True)


def test_volatile_is_of_the_past():
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        Variable(torch.ones(2), volatile=False)
    with (
        pytest.warns(UserWarning),
        raises(ValueError, "Variable can't be volatile and require_grad at the same time!"),
    ):
        Variable(torch.ones(2), requires_grad=True, volatile=True)
