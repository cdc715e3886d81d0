"""Shapes, axes, joining and splitting: results, views, errors."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

import tapegrad as torch
from tapegrad.core.shape import reshaped_strides
from tests.messages import raises


@pytest.fixture
def x():
    return torch.arange(24.0).reshape(2, 3, 4)


# --- shape ---


@given(st.data())
def test_a_view_is_possible_exactly_where_numpy_makes_one(data):
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=4))
    array = np.arange(int(np.prod(shape))).reshape(shape)
    array = array.transpose(data.draw(st.permutations(range(len(shape)))))
    step = data.draw(st.integers(1, 2))
    array = array[..., ::step]
    rest, new = array.size, []
    while rest > 1:
        n = data.draw(st.sampled_from([k for k in range(2, rest + 1) if rest % k == 0]))
        new.append(n)
        rest //= n
    strides = reshaped_strides(array.shape, array.strides, tuple(new))
    assert (strides is not None) == np.shares_memory(array.reshape(new), array)


def test_one_size_is_worked_out(x):
    assert x.view(-1).shape == (24,)
    assert x.view(6, -1).shape == (6, 4)
    assert x.reshape((-1, 2, 3)).shape == (4, 2, 3)
    assert x.unflatten(2, (-1, 2)).shape == (2, 3, 2, 2)
    assert x.flatten(0, 1).shape == (6, 4)
    assert torch.zeros(0, 3).reshape(-1, 3).shape == (0, 3)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: x.view(5, 5), "shape '[5, 5]' is invalid for input of size 24"),
        (lambda x: x.view(-1, -1), "only one dimension can be inferred"),
        (lambda x: x.view(-1, 5), "shape '[-1, 5]' is invalid for input of size 24"),
        (lambda x: x.view(-2, 3), "invalid shape dimension -2 at index 0 of shape [-2, 3]"),
        (
            lambda x: x.flatten(2, 1),
            "flatten() has invalid args: start_dim cannot come after end_dim",
        ),
        (
            lambda x: x.unflatten(0, (3, 1)),
            "unflatten: Provided sizes [3, 1] don't multiply up to the size of dim 0 (2) in the "
            "input tensor",
        ),
        (lambda x: x.t(), "t() expects a tensor with <= 2 dimensions, but self is 3D"),
        (lambda x: x.permute(0, 0, 1), "permute(): duplicate dims are not allowed."),
        (lambda x: x.movedim((0, 0), (1, 2)), "movedim: repeated dim in `source` ([0, 0])"),
        (
            lambda x: x.expand(3, 3, 4),
            "The expanded size of the tensor (3) must match the existing size (2) at "
            "non-singleton dimension 0.  Target sizes: [3, 3, 4].  Tensor sizes: [2, 3, 4]",
        ),
        (lambda x: x.narrow(0, 1, 2), "start (1) + length (2) exceeds dimension size (2)."),
        (lambda x: x.chunk(0), "chunk expects `chunks` to be greater than 0, got: 0"),
        (
            lambda x: x.split([1, 2]),
            "split_with_sizes expects split_sizes to sum exactly to 2 (input tensor's size at "
            "dimension 0), but got split_sizes=[1, 2]",
        ),
        (lambda x: x.unfold(0, 3, 1), "maximum size for tensor at dimension 0 is 2 but size is 3"),
        (lambda x: x.roll((1, 1), 0), "shifts and dimensions must align. shifts: 2, dims:1"),
        (
            lambda x: torch.cat((x, x[0])),
            "Tensors must have same number of dimensions: got 3 and 2",
        ),
        (
            lambda x: torch.cat((x[0], x[0, :2]), 1),
            "Sizes of tensors must match except in dimension 1. Expected size 3 but got size 2 "
            "for tensor number 1 in the list.",
        ),
        (
            lambda x: torch.stack((x[0], x[0, 0])),
            "stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [4] at "
            "entry 1",
        ),
    ],
)
def test_what_does_not_fit_raises_as_in_pytorch(x, call, message):
    with raises(RuntimeError, message):
        call(x)


@pytest.mark.parametrize(
    "call, got",
    [
        (lambda x: x.transpose(0, 5), "[-3, 2], but got 5"),
        (lambda x: x.squeeze(5), "[-3, 2], but got 5"),
        (lambda x: x.unsqueeze(-6), "[-4, 3], but got -6"),
        (lambda x: torch.stack((x, x), 7), "[-4, 3], but got 7"),
        (lambda x: x[0, 0, 0].unsqueeze(2), "[-1, 0], but got 2"),
    ],
)
def test_dimensions_out_of_range_raise_as_in_pytorch(x, call, got):
    with raises(IndexError, f"Dimension out of range (expected to be in range of {got})"):
        call(x)


def test_sizes_are_whole_numbers(x):
    with raises(
        TypeError, "reshape(): argument 'shape' (position 1) must be tuple of ints, not float"
    ):
        x.reshape(2.5)


# --- axes ---


def test_moved_dimensions_leave_the_order_of_the_rest(x):
    assert x.movedim(0, -1).shape == (3, 4, 2)
    assert x.movedim((0, 1), (1, 2)).shape == (4, 2, 3)
    assert torch.moveaxis(x, 2, 0).shape == (4, 2, 3)


def test_transposes_have_their_properties(x):
    assert x.mT.shape == (2, 4, 3)
    assert x[0].T.shape == x[0].H.shape == (4, 3)
    with raises(
        RuntimeError,
        "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.",
    ):
        _ = x[0, 0].mT


def test_squeeze_drops_only_sizes_of_one():
    x = torch.zeros(1, 3, 1)
    assert x.squeeze().shape == (3,)
    assert x.squeeze(1).shape == (1, 3, 1)
    assert x.squeeze((0, 1)).shape == (3, 1)


# --- broadcasting ---


def test_expand_repeats_without_copying():
    x = torch.tensor([[1.0], [2.0]], requires_grad=True)
    y = x.expand(-1, 3)
    assert y.tolist() == [[1.0] * 3, [2.0] * 3]
    y.sum().backward()
    assert x.grad.tolist() == [[3.0], [3.0]]


def test_shapes_broadcast_as_in_pytorch():
    assert torch.broadcast_shapes((2, 1), (3,), 1) == (2, 3)
    a, b = torch.broadcast_tensors(torch.zeros(2, 1), torch.zeros(3))
    assert a.shape == b.shape == (2, 3)
    with raises(
        RuntimeError,
        "Attempting to broadcast a dimension of length 4 at -1! Mismatching argument at index 1 "
        "had (4,); but expected shape should be broadcastable to [2, 3]",
    ):
        torch.broadcast_shapes((2, 3), (4,))
    with raises(
        RuntimeError,
        "Attempting to broadcast a dimension of length 4 at -1! Mismatching "
        "argument at index 1 had [4]; but expected shape should be broadcastable to [3]",
    ):
        torch.broadcast_shapes([3], [4])


# --- joining and splitting ---


def test_cat_promotes_and_skips_vectors_without_elements():
    y = torch.cat((torch.ones(2, dtype=torch.int64), torch.ones(1)))
    assert y.dtype is torch.float32 and y.tolist() == [1.0, 1.0, 1.0]
    assert torch.cat((torch.ones(2, 3), torch.ones(0))).shape == (2, 3)
    with raises(ValueError, "torch.cat(): expected a non-empty list of Tensors"):
        torch.cat([])
    with raises(
        TypeError, "cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
    ):
        torch.cat(torch.ones(2))


def test_vectors_without_elements_are_joined_along_any_dimension():
    x = torch.empty(0)
    assert torch.cat([x, x], 1).shape == torch.cat([x], dim=-3).shape == (0,)
    assert torch.cat([x, x.int()], 2, out=torch.empty(0)).dtype is torch.float32


@given(st.integers(0, 7), st.integers(1, 5))
def test_what_was_split_joins_again(n, size):
    x = torch.arange(float(2 * n)).reshape(n, 2).requires_grad_()
    for parts in (x.split(size), x.chunk(size), x.tensor_split(size)):
        y = torch.cat(parts)
        assert y.tolist() == x.tolist()
        x.grad = None
        (y * y).sum().backward()
        assert x.grad.tolist() == (2 * x).tolist()


def test_chunks_are_equal_but_the_last():
    assert [c.shape[0] for c in torch.arange(7).chunk(3)] == [3, 3, 1]
    assert [c.shape[0] for c in torch.arange(7).tensor_split(3)] == [3, 2, 2]
    assert [c.shape[0] for c in torch.arange(7).tensor_split((2, 9))] == [2, 5, 0]
    assert [c.shape[1] for c in torch.zeros(2, 6).hsplit(3)] == [2, 2, 2]


def test_stacks_put_vectors_where_their_names_say():
    a, b = torch.tensor([1, 2]), torch.tensor([3, 4])
    assert torch.hstack((a, b)).tolist() == [1, 2, 3, 4]
    assert torch.vstack((a, b)).tolist() == [[1, 2], [3, 4]]
    assert torch.dstack((a, b)).tolist() == [[[1, 3], [2, 4]]]
    assert torch.column_stack((a, b)).tolist() == [[1, 3], [2, 4]]
    assert torch.stack((a, b), dim=-1).tolist() == [[1, 3], [2, 4]]


# --- repeating and turning ---


def test_repeats(x):
    a = torch.tensor([1, 2])
    assert a.repeat(2, 2).tolist() == [[1, 2, 1, 2]] * 2
    assert a.tile((2,)).tolist() == [1, 2, 1, 2]
    assert a.repeat_interleave(2).tolist() == [1, 1, 2, 2]
    assert a.repeat_interleave(torch.tensor([0, 3])).tolist() == [2, 2, 2]
    assert torch.repeat_interleave(torch.tensor([1, 2])).tolist() == [0, 1, 1]


def test_turning_four_times_gives_the_tensor_back(x):
    m = x[0]
    for k in range(-4, 5):
        assert m.rot90(k).rot90(-k).tolist() == m.tolist()
    assert m.rot90().tolist() == np.rot90(m.numpy()).tolist()
    assert m.flip(0, 1).tolist() == m.rot90(2).tolist()
    assert m.roll(1, 0)[0].tolist() == m[-1].tolist()


# --- triangles and grids ---


def test_diagonals_are_taken_and_put_back():
    m = torch.arange(9.0).reshape(3, 3)
    assert m.diag().tolist() == [0.0, 4.0, 8.0]
    assert m.diagonal(1).tolist() == [1.0, 5.0]
    assert torch.diag(m.diag(1), 1).sum().item() == 6.0
    assert torch.diag_embed(torch.ones(2, 3)).shape == (2, 3, 3)
    assert (m.tril(-1) + m.triu()).tolist() == m.tolist()


def test_grids_and_combinations():
    a, b = torch.tensor([1, 2]), torch.tensor([3, 4, 5])
    rows, columns = torch.meshgrid(a, b, indexing="ij")
    assert rows.shape == columns.shape == (2, 3)
    assert torch.meshgrid(a, b, indexing="xy")[0].shape == (3, 2)
    assert torch.cartesian_prod(a, b[:2]).tolist() == [[1, 3], [1, 4], [2, 3], [2, 4]]
    assert torch.combinations(b).tolist() == [[3, 4], [3, 5], [4, 5]]
    assert torch.block_diag(a, b[:1]).tolist() == [[1, 2, 0], [0, 0, 3]]


def test_permute_without_an_order_is_an_error():
    x = torch.ones(())
    assert x.permute(()).shape == ()
    with pytest.raises(TypeError, match=r"^permute\(\) missing 1 required positional arg"):
        x.permute()
