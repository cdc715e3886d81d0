"""Writing by index."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import tapegrad as torch
from tests.messages import raises
from tests.operators.indexing.test_getitem import shapes, without_negative_steps


@given(st.data())
def test_assigning_to_a_basic_index_writes_what_numpy_writes(data):
    shape = data.draw(shapes)
    index = data.draw(hnp.basic_indices(shape).filter(without_negative_steps))
    expected = np.zeros(shape)
    values = np.arange(1.0, 1.0 + expected[index].size).reshape(np.shape(expected[index]))
    expected[index] = values
    x = torch.zeros(*shape, dtype=torch.float64)
    x[index] = torch.tensor(values)
    np.testing.assert_array_equal(x.numpy(), expected)


@given(st.data())
def test_assigning_a_number_to_a_mask_writes_what_numpy_writes(data):
    shape = data.draw(shapes)
    mask = data.draw(hnp.arrays(bool, shape))
    expected = np.zeros(shape)
    expected[mask] = 5
    x = torch.zeros(*shape, dtype=torch.float64)
    x[torch.from_numpy(mask)] = 5
    np.testing.assert_array_equal(x.numpy(), expected)


@given(st.data())
def test_accumulating_at_an_index_adds_each_value(data):
    shape = data.draw(shapes)
    index = data.draw(hnp.integer_array_indices(shape))
    expected = np.zeros(shape)
    values = np.arange(1.0, 1.0 + expected[index].size).reshape(np.shape(expected[index]))
    np.add.at(expected, index, values)
    x = torch.zeros(*shape, dtype=torch.float64)
    keys = tuple(torch.from_numpy(part) for part in index)
    x.index_put_(keys, torch.tensor(values), accumulate=True)
    np.testing.assert_array_equal(x.numpy(), expected)


def test_values_are_broadcast_and_cast():
    x = torch.zeros(2, 3)
    x[:, 1] = torch.tensor(7)
    x[0] = torch.tensor([[1, 2, 3]])
    assert x.tolist() == [[1.0, 2.0, 3.0], [0.0, 7.0, 0.0]]
    n = torch.zeros(3, dtype=torch.int8)
    n[0] = 1.7
    n[1] = torch.tensor(300)
    n[2] = True
    assert n.tolist() == [1, 44, 1]


def test_values_to_be_added_are_broadcast():
    x = torch.zeros(3, 2)
    x.index_put_((torch.tensor([0, -1, 0]),), torch.tensor([[1.0, 2.0]]), accumulate=True)
    assert x.tolist() == [[2.0, 4.0], [0.0, 0.0], [1.0, 2.0]]


def test_a_write_is_counted_whatever_the_index_and_the_value():
    x, ones = torch.zeros(3, 2), torch.ones(2)
    x[0] = 1.0
    x[1, 1] = 2
    x[-1] = ones
    x[torch.tensor([0, 0])] = torch.tensor([[5.0, 6.0], [7.0, 8.0]])
    x[x > 7] = 0
    assert x.tolist() == [[7.0, 0.0], [0.0, 2.0], [1.0, 1.0]]
    assert x._version == 5
    with raises(IndexError, "index 3 is out of bounds for dimension 0 with size 3"):
        x[3] = 1.0
    with raises(ValueError, "step must be greater than zero"):
        x[::-1] = 1.0
    assert x._version == 5


def test_an_operation_in_place_on_a_part_writes_once_and_is_counted_twice():
    for index, expected in (
        ((1, 2), [0, 0, 0, 0, 0, 1]),
        (-1, [0, 0, 0, 1, 1, 1]),
        ((slice(None), slice(1, 2)), [0, 1, 0, 0, 1, 0]),
    ):
        x = torch.zeros(2, 3, dtype=torch.int32)
        x[index] += 1
        assert x.flatten().tolist() == expected and x._version == 2
    kept = torch.ones(3)
    y = (kept * torch.ones(3, requires_grad=True)).sum()
    kept[0] += 1
    with pytest.raises(RuntimeError, match="is at version 2"):
        y.backward()


def test_a_value_kept_for_the_backward_pass_may_not_be_assigned_to():
    x, w = torch.ones(3), torch.ones(3, requires_grad=True)
    y = (x * w).sum()
    x[0] = 2.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_false_index_writes_nothing():
    x = torch.zeros(2)
    x[False] = 5
    x[torch.zeros(2, dtype=torch.bool)] = 5
    x[[]] = 5.0
    assert x.tolist() == [0.0, 0.0]


def test_source_and_target_may_not_overlap_in_part():
    x = torch.arange(5.0)
    message = (
        "unsupported operation: some elements of the input tensor and the written-to tensor refer "
        "to a single memory location. Please clone() the tensor before performing the operation."
    )
    with raises(RuntimeError, message):
        x[1:] = x[:-1]
    with raises(RuntimeError, message):
        x.add_(x[0:1])
    with raises(RuntimeError, message):
        x[:4].view(2, 2).mul_(x[:4].view(2, 2).t())
    x[:2] = x[0:2]
    x.add_(x)
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


@pytest.mark.parametrize(
    "index, value, error, message",
    [
        (0, [1, 2, 3], TypeError, "can't assign a list to a torch.FloatTensor"),
        (0, np.ones(3), TypeError, "can't assign a numpy.ndarray to a torch.FloatTensor"),
        (0, None, TypeError, "can't assign a NoneType to a torch.FloatTensor"),
        (0, 1j, RuntimeError, "value cannot be converted to type float without overflow"),
        (5, 1, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        (
            0,
            torch.ones(2),
            RuntimeError,
            "The expanded size of the tensor (3) must match the existing size (2) at "
            "non-singleton dimension 0.  Target sizes: [3].  Tensor sizes: [2]",
        ),
        (
            [0, 1],
            torch.ones(2),
            RuntimeError,
            "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of "
            "shape [2, 3]",
        ),
        (
            [0],
            torch.ones(3, dtype=torch.int64),
            RuntimeError,
            "Index put requires the source and destination dtypes match, got Float for the "
            "destination and Long for the source.",
        ),
    ],
)
def test_wrong_assignments_raise_as_in_pytorch(index, value, error, message):
    x = torch.zeros(2, 3)
    with raises(error, message):
        x[index] = value
    assert x._version == 0 and x.sum().item() == 0


def test_numbers_too_large_for_the_dtype_are_refused():
    x = torch.zeros(3, dtype=torch.int8)
    with raises(RuntimeError, "value cannot be converted to type int8_t without overflow"):
        x[0] = 300


def test_the_shape_of_values_is_looked_at_before_their_dtype_and_the_indices():
    x = torch.arange(4)
    message = "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of "
    with raises(RuntimeError, message + "shape [4]"):
        x[x > -1] = torch.tensor([1.0, 2.0, 3.0])
    with raises(RuntimeError, message + "shape [1]"):
        x[[9]] = torch.tensor([1.0, 2.0, 3.0])
    with raises(
        RuntimeError,
        "Index put requires the source and destination dtypes match, got Long for the destination "
        "and Float for the source.",
    ):
        x[[9]] = torch.tensor([1.0])
    assert x.tolist() == [0, 1, 2, 3]


def test_elements_are_not_deleted_and_no_index_is_an_error():
    x = torch.arange(4)
    with raises(TypeError, "Tensor does not support deleting items"):
        del x[0]
    with raises(RuntimeError, "index_put(): there are no indices"):
        x.index_put((), torch.tensor([1]))
    with raises(IndexError, "index is out of bounds for dimension with size 0"):
        torch.empty(10, 0)[:, [0, 1]]


def test_nodes_of_assignments_to_a_tensor_as_a_whole():
    def name(shape, index, value):
        x = torch.zeros(shape, requires_grad=True) * 1
        x[index] = value
        return x.grad_fn.name()

    number = torch.tensor(2.0, requires_grad=True)
    assert name((), ..., 2.0) == name((), ..., number) == "torch::autograd::CopyBackwards"
    assert name((2,), ..., 2.0) == name((2,), ..., number) == "FillBackward3"
    assert name((2,), True, 2.0) == name((), True, number) == "torch::autograd::CopySlices"


def test_a_leaf_is_refused_before_elements_that_share_a_place():
    v = torch.ones(3, 1, requires_grad=True).expand(3, 3)
    message = "a view of a leaf Variable that requires grad is being used in an in-place operation."
    for write in (
        lambda: v.masked_fill_(v > 0, 1.0),
        lambda: v.__setitem__(0, 1.0),
        lambda: v.index_fill_(0, torch.tensor([0]), 1.0),
    ):
        with raises(RuntimeError, message):
            write()


def test_index_put_without_indices_looks_at_the_values_first():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"value tensor of shape \[3\] cannot be broadcast to"):
        torch.index_put(x, [], torch.ones(3))
    with pytest.raises(RuntimeError, match="requires the source and destination dtypes match"):
        torch.index_put(x, [], torch.ones(2, dtype=torch.int64))
    assert torch.index_put(torch.ones(2, 0), [], torch.ones(2, 0)).shape == (2, 0)


def test_a_tensor_takes_its_own_elements_where_they_are():
    x = torch.arange(6.0).reshape(2, 3)
    wide = x.expand(2, 2, 3)
    wide[0] = x  # several elements are one place in memory, and nothing is written
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and x._version == 1
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        wide[:] = x.clone()
