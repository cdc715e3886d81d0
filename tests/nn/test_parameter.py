"""Parameters and buffers."""

import copy
import pickle

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def test_a_parameter_is_a_leaf_that_requires_grad_on_the_same_memory():
    x = torch.ones(2)
    p = nn.Parameter(x)
    assert p.requires_grad
    assert p.is_leaf
    assert not x.requires_grad
    x[0] = 5
    assert p.tolist() == [5.0, 1.0]


def test_a_parameter_prints_what_it_is():
    assert repr(nn.Parameter(torch.ones(2))) == (
        "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    )
    assert repr(nn.Parameter(torch.ones(2), False)) == "Parameter containing:\ntensor([1., 1.])"
    assert repr(nn.Parameter()) == "Parameter containing:\ntensor([], requires_grad=True)"


def test_what_is_computed_from_a_parameter_is_a_tensor():
    p = nn.Parameter(torch.ones(2, 2))
    computed = [p * 2, p.detach(), p.data, p.clone(), p[0], p.T]
    assert [type(x) for x in computed] == [torch.Tensor] * 6
    assert p.requires_grad_() is p
    assert p.to(torch.float32) is p


def test_a_parameter_of_a_computed_tensor_is_a_leaf():
    p = nn.Parameter(torch.ones(2, requires_grad=True) * 2)
    assert p.grad_fn is None


def test_integers_cannot_require_grad():
    message = "Only Tensors of floating point and complex dtype can require gradients"
    with raises(RuntimeError, message):
        nn.Parameter(torch.ones(2, dtype=torch.int64))
    assert not nn.Parameter(torch.ones(2, dtype=torch.int64), requires_grad=False).requires_grad


def test_a_list_is_no_tensor():
    with raises(AttributeError, "'list' object has no attribute 'detach'"):
        nn.Parameter([1.0, 2.0])


def test_copies_and_pickles_are_parameters():
    p = nn.Parameter(torch.ones(2), requires_grad=False)
    p.note = "mine"
    for twin in (copy.deepcopy(p), pickle.loads(pickle.dumps(p)), copy.copy(p)):
        assert type(twin) is nn.Parameter
        assert not twin.requires_grad
        assert twin.tolist() == [1.0, 1.0]
    assert pickle.loads(pickle.dumps(p)).note == "mine"
    assert copy.deepcopy(p).__dict__ == {}


def test_a_copy_has_no_gradient():
    p = nn.Parameter(torch.ones(2))
    p.sum().backward()
    assert copy.deepcopy(p).grad is None


def test_a_buffer_is_an_ordinary_tensor_with_a_mark():
    x = torch.ones(2)
    b = nn.Buffer(x, persistent=False)
    assert type(b) is torch.Tensor
    assert isinstance(b, nn.Buffer)
    assert not isinstance(x, nn.Buffer)
    assert not isinstance(3, nn.Buffer)
    assert not b.persistent
    x[0] = 5
    assert b.tolist() == [5.0, 1.0]


def test_gradients_reach_parameters():
    p = nn.Parameter(torch.tensor([1.0, 2.0]))
    (p * p).sum().backward()
    assert p.grad.tolist() == [2.0, 4.0]
    assert type(p.grad) is torch.Tensor


def test_parameters_without_a_shape_are_found_where_pytorch_has_them():
    from tapegrad.nn.parameter import UninitializedParameter, is_lazy

    assert UninitializedParameter is nn.UninitializedParameter
    assert is_lazy(nn.LazyLinear(2).weight) and not is_lazy(nn.Linear(2, 2).weight)
