"""Reading by index: NumPy's results, PyTorch's shapes, nodes and errors."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import tapegrad as torch
from tests.messages import raises

ARRAY = np.arange(24.0).reshape(2, 3, 4)


@pytest.fixture
def x():
    return torch.from_numpy(ARRAY.copy())


def nodes(tensor):
    """The names of the nodes above a leaf."""
    found, node = [], tensor.grad_fn
    while node.next_functions:
        found.append(type(node).__name__)
        node = node.next_functions[0][0]
    return found


# --- against NumPy ---

shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def without_negative_steps(index):
    items = index if isinstance(index, tuple) else (index,)
    return all(not isinstance(i, slice) or i.step is None or i.step > 0 for i in items)


@given(st.data())
def test_basic_indices_give_what_numpy_gives(data):
    shape = data.draw(shapes)
    index = data.draw(hnp.basic_indices(shape, allow_newaxis=True).filter(without_negative_steps))
    array = np.arange(float(np.prod(shape))).reshape(shape)
    got = torch.from_numpy(array)[index]
    np.testing.assert_array_equal(got.numpy(), array[index])
    assert got.shape == np.shape(array[index])


@given(st.data())
def test_index_arrays_give_what_numpy_gives(data):
    shape = data.draw(shapes)
    index = data.draw(hnp.integer_array_indices(shape))
    array = np.arange(float(np.prod(shape))).reshape(shape)
    key = tuple(torch.from_numpy(part) for part in index)
    np.testing.assert_array_equal(torch.from_numpy(array)[key].numpy(), array[index])


@given(st.data())
def test_masks_of_the_first_dimensions_give_what_numpy_gives(data):
    shape = data.draw(shapes)
    mask = data.draw(hnp.arrays(bool, shape[: data.draw(st.integers(1, len(shape)))]))
    array = np.arange(float(np.prod(shape))).reshape(shape)
    got = torch.from_numpy(array)[torch.from_numpy(mask)]
    np.testing.assert_array_equal(got.numpy(), array[mask])


@given(st.data())
def test_the_gradient_counts_how_often_each_element_was_read(data):
    shape = data.draw(shapes)
    index = data.draw(hnp.integer_array_indices(shape))
    x = torch.zeros(*shape, dtype=torch.float64, requires_grad=True)
    x[tuple(torch.from_numpy(part) for part in index)].sum().backward()
    counts = np.zeros(shape)
    np.add.at(counts, index, 1)
    np.testing.assert_array_equal(x.grad.numpy(), counts)


@pytest.mark.parametrize(
    "index",
    [
        (0, [0, 2]),
        (slice(None), [0, 2], 1),
        (slice(1, None), [0, 2]),
        ([0, 1], slice(None), [0, 3]),
        ([0, 1], Ellipsis, [0, 3]),
        (None, slice(None), [0, 2]),
        ([[0, 1], [1, 0]],),
        ([[0], [1]], [0, 2]),
        (Ellipsis, [3, 0, 0]),
        (slice(None), np.array([True, False, True])),
        (np.array([[True, False, True], [False, True, False]]), slice(1, 3)),
    ],
)
def test_mixed_indices_give_what_numpy_gives_for_adjacent_axes(x, index):
    key = tuple(torch.from_numpy(i) if isinstance(i, np.ndarray) else i for i in index)
    np.testing.assert_array_equal(x[key].numpy(), ARRAY[index])


# --- what an index is ---


def test_a_0d_index_tensor_is_a_number(x):
    assert x[torch.tensor(1)].shape == (3, 4)
    assert x[:, torch.tensor(1)].shape == (2, 4)
    assert torch.zeros(3)[torch.tensor(1) :].shape == (2,)


def test_truth_values_add_a_dimension(x):
    assert x[True].shape == (1, 2, 3, 4)
    assert x[False].shape == (0, 2, 3, 4)
    assert x[torch.tensor(True)].shape == (1, 2, 3, 4)
    assert x[:, True].shape == (2, 1, 3, 4)


def test_lists_ranges_and_arrays_are_index_tensors(x):
    for index in ([0, 1], range(2), np.array([0, 1]), (0, 1)):
        assert (x[index,] if isinstance(index, tuple) else x[index]).shape == (2, 3, 4)
    assert x[[True, False]].shape == (1, 3, 4)
    assert x[[]].shape == (0, 3, 4)
    assert x[[[0], [1]]].shape == (1, 4)


def test_numpy_numbers_are_numbers(x):
    assert x[np.int64(1)].shape == (3, 4)
    assert x[np.int32(0), 1:].shape == (2, 4)


# --- the graph ---


@pytest.mark.parametrize(
    "index, names",
    [
        (0, ["SelectBackward0"]),
        ((-1, 0), ["SelectBackward0", "SelectBackward0"]),
        (slice(None), ["SliceBackward0"]),
        (slice(0, 1), ["SliceBackward0"]),
        ((slice(None), slice(None)), ["AliasBackward0"]),
        ((slice(None), 0), ["SelectBackward0"]),
        (Ellipsis, ["AliasBackward0"]),
        ((), ["AliasBackward0"]),
        (None, ["UnsqueezeBackward0"]),
        ((None, 0), ["SelectBackward0", "UnsqueezeBackward0"]),
        (True, ["IndexBackward0", "UnsqueezeBackward0"]),
        ([0, 1], ["IndexBackward0"]),
        ((0, [0]), ["IndexBackward0", "SelectBackward0"]),
        ((slice(1, None), [0, 2]), ["IndexBackward0", "SliceBackward0"]),
    ],
)
def test_an_index_makes_the_nodes_pytorch_makes(index, names):
    x = torch.zeros(2, 3, 4, requires_grad=True)
    y = x[index]
    assert nodes(y) == names
    assert y._is_view() == (names[0] != "IndexBackward0")


# --- errors ---


@pytest.mark.parametrize(
    "index, error, message",
    [
        (2, IndexError, "index 2 is out of bounds for dimension 0 with size 2"),
        (-3, IndexError, "index -3 is out of bounds for dimension 0 with size 2"),
        ((0, 5), IndexError, "index 5 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        ([5], IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((slice(None), [-4]), IndexError, "index -4 is out of bounds for dimension 0 with size 3"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (
            1.0,
            IndexError,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            "valid indices (got float)",
        ),
        (
            ([0, 1], [0, 1, 2]),
            IndexError,
            "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
        ),
        (
            [True, False, True],
            IndexError,
            "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
            "[2, 3, 4] at index 0",
        ),
        (
            slice(1.0, None),
            TypeError,
            "slice indices must be integers or None or have an __index__ method",
        ),
    ],
)
def test_wrong_indices_raise_as_in_pytorch(x, index, error, message):
    with raises(error, message):
        x[index]


def test_a_0d_tensor_has_no_slices():
    scalar = torch.tensor(1.0)
    assert scalar[...].shape == () and scalar[None].shape == (1,)
    with raises(
        IndexError,
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
        "C++ to convert a 0-dim tensor to a number",
    ):
        scalar[0]
    with raises(IndexError, "slice() cannot be applied to a 0-dim tensor."):
        scalar[:]


def test_index_tensors_have_an_index_dtype(x):
    with raises(IndexError, "tensors used as indices must be long, int, byte or bool tensors"):
        x[torch.tensor([0.0])]
    assert x[torch.tensor([0], dtype=torch.int32)].shape == (1, 3, 4)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ((slice(None), slice(0, 3)), "AliasBackward0"),
        ((slice(None), slice(0, 9)), "AliasBackward0"),
        ((slice(0, 2),), "AliasBackward0"),
        ((slice(None), slice(-3, None)), "SliceBackward0"),
        ((slice(None), slice(0, 3, 2)), "SliceBackward0"),
        (slice(0, 2), "SliceBackward0"),
        ((slice(0, 2), None), "UnsqueezeBackward0"),
    ],
)
def test_a_slice_over_the_whole_axis_is_no_node_of_its_own_among_others(index, expected):
    x = torch.zeros(2, 3, requires_grad=True)
    assert nodes(x[index]) == [expected]


def test_a_number_has_no_element_at_an_index():
    x = torch.tensor(1.0)
    invalid = (
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in "
        "C++ to convert a 0-dim tensor to a number"
    )
    with raises(IndexError, invalid):
        x[0]
    with raises(IndexError, invalid):
        x[0] = 1
    with raises(IndexError, "index -1 is out of bounds for dimension 0 with size 0"):
        x[-1]
    with raises(IndexError, "too many indices for tensor of dimension 0"):
        x[0, 0]
