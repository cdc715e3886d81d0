"""Scattering: writing and adding at places of the elements' own."""

import pytest

import tapegrad as torch
from tests.messages import raises

# --- scattering ---


def test_scatter_writes_and_its_gradients_go_to_both():
    x = torch.zeros(2, 2, requires_grad=True)
    source = torch.ones(1, 2, requires_grad=True)
    y = x.scatter(0, torch.tensor([[1, 0]]), source)
    assert y.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert source.grad.tolist() == [[1.0, 1.0]]


def test_scatter_add_adds_each_value():
    y = torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]))
    assert y.tolist() == [3.0, 0.0, 3.0]


@pytest.mark.parametrize(
    "reduce, include, expected",
    [
        ("sum", True, [8.0, 2.0]),
        ("sum", False, [7.0, 2.0]),
        ("mean", True, [8.0 / 3.0, 2.0]),
        ("mean", False, [3.5, 2.0]),
        ("prod", True, [12.0, 2.0]),
        ("amax", True, [4.0, 2.0]),
        ("amin", False, [3.0, 2.0]),
        ("amin", True, [1.0, 2.0]),
    ],
)
def test_scatter_reduce_includes_the_tensor_or_not(reduce, include, expected):
    x = torch.tensor([1.0, 2.0])
    source, index = torch.tensor([3.0, 4.0]), torch.tensor([0, 0])
    y = x.scatter_reduce(0, index, source, reduce, include_self=include)
    assert y.tolist() == pytest.approx(expected)


def test_ties_share_the_gradient_of_an_extremum():
    x = torch.tensor([2.0], requires_grad=True)
    source = torch.tensor([2.0, 2.0, 1.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 0, 0]), source, "amax").sum().backward()
    assert x.grad.tolist() == pytest.approx([1 / 3])
    assert source.grad.tolist() == pytest.approx([1 / 3, 1 / 3, 0.0])


def test_masked_scatter_takes_the_source_in_order():
    mask = torch.tensor([True, False, True])
    source = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.zeros(3).masked_scatter(mask, source)
    assert y.tolist() == [1.0, 0.0, 2.0]
    y.sum().backward()
    assert source.grad.tolist() == [1.0, 1.0, 0.0]
    with raises(RuntimeError, "Number of elements of source < number of ones in mask"):
        torch.zeros(3).masked_scatter(mask, torch.ones(1))


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_an_empty_index_reduces_nothing(reduce):
    x, index = torch.ones(3, 2), torch.zeros(0, 2, dtype=torch.long)
    source = torch.zeros(0, 2, requires_grad=True)
    y = x.scatter_reduce(0, index, source, reduce)
    assert type(y.grad_fn).__name__ == "ScatterReduceBackward0" and y.tolist() == x.tolist()
    y.sum().backward()
    assert source.grad.shape == (0, 2)
    if reduce == "mean":
        with raises(NotImplementedError, "\"div_floor_cpu\" not implemented for 'Bool'"):
            x.bool().scatter_reduce(0, index, source.bool(), reduce)
    else:
        none = torch.zeros(3, 2, dtype=torch.complex64)
        assert none.scatter_reduce(0, index, none[:0], reduce).tolist() == none.tolist()


def test_a_source_of_which_nothing_is_read_is_in_the_graph():
    for x in (torch.empty(0, 3), torch.ones(2, 3), torch.tensor(2.0)):
        nowhere = torch.empty((0, 3) if x.ndim else 0, dtype=torch.int64)
        for name in ("scatter", "scatter_add"):
            src = torch.ones((2, 2, 2), requires_grad=True)
            y = getattr(x, name)(0, nowhere, src)
            assert y.requires_grad and torch.equal(y, x)
            y.sum().backward()
            assert not src.grad.any()
