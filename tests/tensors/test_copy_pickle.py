"""Copying and pickling tensors."""

import copy
import pickle

import pytest

import tapegrad as torch
from tests.messages import raises


def again(x):
    return pickle.loads(pickle.dumps(x))


def test_a_pickle_keeps_values_requires_grad_and_attributes():
    x = torch.tensor([[1.0, 2]], requires_grad=True)
    x.note = "mine"
    y = again(x)
    assert repr(y) == "tensor([[1., 2.]], requires_grad=True)"
    assert y.note == "mine" and y.is_leaf and y.grad is None
    assert repr(again(x * 2)) == "tensor([[2., 4.]], requires_grad=True)"


@pytest.mark.parametrize(
    "value",
    [torch.float32, torch.bool, torch.strided, torch.channels_last, torch.device("cpu")],
    ids=repr,
)
def test_what_describes_a_tensor_is_the_same_after_a_pickle(value):
    found = again(value)
    assert found == value and (found is value or isinstance(value, torch.device))


def test_sizes_and_low_precision_survive():
    assert again(torch.Size([2, 3])) == torch.Size([2, 3])
    assert again(torch.ones(2, dtype=torch.bfloat16)).dtype is torch.bfloat16


def test_a_shallow_copy_shares_memory():
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    y = copy.copy(x)
    assert y is not x and y.data_ptr() == x.data_ptr()
    assert y.requires_grad and y.grad is None


def test_a_deep_copy_has_memory_and_a_gradient_of_its_own():
    x = torch.ones(2, 3, requires_grad=True)
    x.note = [1]
    x.sum().backward()
    y = copy.deepcopy(x)
    assert y.tolist() == x.tolist() and y.data_ptr() != x.data_ptr()
    assert y.grad.tolist() == x.grad.tolist() and y.grad is not x.grad
    assert y.note == [1] and y.note is not x.note
    assert copy.deepcopy(x.detach().t()).stride() == (1, 3)


def test_tensors_that_share_memory_share_it_after_a_deep_copy():
    x = torch.ones(4)
    a, part, twice = copy.deepcopy((x, x[1:3], x))
    a[1] = 7
    assert part.tolist() == [7, 1] and twice is a and x.tolist() == [1] * 4


def test_a_parameter_stays_one():
    x = torch.nn.Parameter(torch.ones(2))
    for y in (copy.deepcopy(x), copy.copy(x), again(x)):
        assert repr(y) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"


def test_history_is_not_copied():
    x = torch.ones(2, requires_grad=True) * 2
    with raises(
        RuntimeError,
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
        "at the moment.  If you were attempting to deepcopy a module, this may be because of a "
        "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001",
    ):
        copy.deepcopy(x)
    assert copy.deepcopy(x.detach()).tolist() == [2, 2]


def test_pickles_keep_the_sign_of_views_and_deep_copies_resolve_it():
    x = torch.tensor([1 + 2j, 3 - 4j])
    for view in (x.conj(), x.conj().imag, x.conj()._neg_view()):
        signs = (view.is_conj(), view.is_neg())
        found = pickle.loads(pickle.dumps(view))
        assert (found.is_conj(), found.is_neg()) == signs and found.tolist() == view.tolist()
        copied = copy.deepcopy(view)
        assert not (copied.is_conj() or copied.is_neg()) and copied.tolist() == view.tolist()


def test_a_class_of_tensors_derives_from_tensor():
    message = (
        "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
        "possible. Make sure your class inherits from Tensor."
    )
    with raises(TypeError, message):
        torch.ones(2).as_subclass(int)


def test_a_subclass_is_copied_where_it_makes_tensors_of_its_class():
    class Sub(torch.Tensor):
        pass

    class Own(torch.Tensor):
        def new_empty(self, *size, **options):
            return super().new_empty(*size, **options).as_subclass(Own)

    with pytest.raises(RuntimeError, match=r"for non-wrapper subclasses .* implement new_empty"):
        copy.deepcopy(torch.ones(2).as_subclass(Sub))
    with pytest.raises(RuntimeError, match=r"for wrapper subclasses .* implement clone"):
        copy.deepcopy(torch.ones(0).as_subclass(Sub))
    assert type(copy.deepcopy(torch.ones(2).as_subclass(Own))) is Own
