"""Python functions of single elements."""

import pytest

import tapegrad as torch
from tests.messages import raises


def test_each_element_is_replaced():
    x = torch.tensor([[1.0, 2], [3, 4]])
    assert x.apply_(lambda v: v * 10) is x and x.tolist() == [[10, 20], [30, 40]]
    x.t().apply_(lambda v: v + 1)
    assert x.tolist() == [[11, 21], [31, 41]] and x._version == 2
    y = torch.tensor([1, 2]).map_(torch.tensor([3, 4]), lambda a, b: a + b)
    assert y.tolist() == [4, 6]


def test_other_tensors_are_broadcast_to_the_first_and_have_its_dtype():
    def total(*numbers):
        return sum(numbers)

    x = torch.zeros(2, 3)
    assert x.map2_(torch.ones(3), torch.ones(2, 1), total).tolist() == [[2, 2, 2]] * 2
    with raises(
        RuntimeError,
        "The expanded size of the tensor (3) must match the existing size (4) at non-singleton "
        "dimension 1.  Target sizes: [2, 3].  Tensor sizes: [4]",
    ):
        x.map_(torch.ones(4), total)
    with raises(TypeError, "map_: expected torch.FloatTensor for 'other' (got torch.LongTensor)"):
        x.map_(torch.ones(3).long(), total)
    with raises(
        TypeError, "map2_: expected torch.FloatTensor for argument 'y' (got torch.LongTensor)"
    ):
        x.map2_(torch.ones(3), torch.ones(3).long(), total)
    with raises(
        RuntimeError,
        "Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.",
    ):
        x.map_(torch.ones(3, requires_grad=True), total)


def test_elements_of_one_place_are_replaced_one_after_another():
    x = torch.zeros(2, 1).expand(2, 3)
    assert x.apply_(lambda v: v + 1).tolist() == [[3, 3, 3], [3, 3, 3]]
    y = torch.zeros(3)[None].expand(2, 3)
    assert y.map_(torch.ones(2, 3), lambda a, b: a + b).tolist() == [[2, 2, 2], [2, 2, 2]]
    with raises(TypeError, "must be real number, not str"):
        x.apply_(lambda v: "a" if v > 4 else v + 1)
    assert x.tolist() == [[3, 3, 3], [3, 3, 3]]


def test_no_gradient_flows_and_nothing_is_written_before_all_is_known():
    x = torch.ones(2)
    with raises(TypeError, "must be real number, not str"):
        x.apply_(lambda v: "a")
    with pytest.raises(TypeError, match="'int' object is not callable"):
        x.apply_(3)
    assert x.tolist() == [1, 1] and x._version == 0
    with raises(
        RuntimeError,
        "Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.",
    ):
        torch.ones(2, requires_grad=True).apply_(lambda v: v)


def test_a_tensor_can_be_seen_as_another_class():
    x = torch.ones(2, requires_grad=True)
    y = x.as_subclass(torch.nn.Parameter)
    assert type(y) is torch.nn.Parameter and y.data_ptr() == x.data_ptr()
    assert type(y.grad_fn).__name__ == "AliasBackward0"
    with raises(TypeError, "cls must be a type (got int)"):
        x.as_subclass(3)
