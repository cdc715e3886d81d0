"""Tensors of a module exchanged by name."""

import pytest

import tapegrad as torch
from tapegrad.nn.utils._named_member_accessor import swap_tensor


def module():
    found = torch.nn.BatchNorm1d(2)
    found.ordinary, found.number = torch.zeros(1), 3
    return found


@pytest.mark.parametrize("name", ["weight", "running_mean", "ordinary"])
def test_a_tensor_takes_the_place_of_another_one(name):
    layer, new = module(), torch.ones(3)
    before = getattr(layer, name)
    assert swap_tensor(layer, name, new) is before
    assert getattr(layer, name) is new
    assert swap_tensor(layer, name, before) is new


def test_what_was_not_there_is_taken_away_again():
    layer = module()
    mark = swap_tensor(layer, "another", torch.ones(1), allow_missing=True)
    assert layer.another.tolist() == [1]
    swap_tensor(layer, "another", mark)
    assert not hasattr(layer, "another")


@pytest.mark.parametrize(
    ("name", "tensor", "error", "message"),
    [
        ("weight", 3, TypeError, "3 is not an instance of torch.Tensor"),
        ("number", torch.ones(1), TypeError, "attribute `number`: 3 is not an instance of"),
        ("another", torch.ones(1), AttributeError, "BatchNorm1d has no attribute `another`"),
        ("a.b", torch.ones(1), KeyError, r"tensor name can.* contain"),
        ("", torch.ones(1), KeyError, r"tensor name can.* be empty string"),
    ],
)
def test_what_cannot_be_exchanged_is_refused(name, tensor, error, message):
    with pytest.raises(error, match=message):
        swap_tensor(module(), name, tensor)
    with pytest.raises(TypeError, match=r"not an instance of torch\.nn\.Module"):
        swap_tensor(3, "weight", torch.ones(1))
