"""Segments reduced, and their gradients."""

import math

import pytest

import tapegrad as torch

NAN, INF = float("nan"), float("inf")
OFFSETS = [0, 1, 1, 3, 4]


def data():
    return torch.tensor([[1.0, 5.0], [3.0, 3.0], [3.0, 1.0], [4.0, 2.0]], requires_grad=True)


@pytest.mark.parametrize(
    ("reduce", "initial", "want", "grad"),
    [
        ("sum", None, [[1, 5], [0, 0], [6, 4], [4, 2]], [[1, 1], [1, 1], [1, 1], [1, 1]]),
        ("sum", 2, [[3, 7], [2, 2], [8, 6], [6, 4]], [[1, 1], [1, 1], [1, 1], [1, 1]]),
        ("mean", 2, [[3, 7], [2, 2], [4, 3], [6, 4]], [[1, 1], [0.5, 0.5], [0.5, 0.5], [1, 1]]),
        ("max", None, [[1, 5], [-INF, -INF], [3, 3], [4, 2]], [[1, 1], [0.5, 1], [0.5, 0], [1, 1]]),
        ("amax", 2, [[2, 5], [2, 2], [3, 3], [4, 2]], [[0, 1], [0.5, 1], [0.5, 0], [1, 1]]),
        ("min", None, [[1, 5], [INF, INF], [3, 1], [4, 2]], [[1, 1], [0.5, 0], [0.5, 1], [1, 1]]),
        ("amin", 2, [[1, 2], [2, 2], [2, 1], [2, 2]], [[1, 0], [0, 0], [0, 1], [0, 1]]),
        ("prod", None, [[1, 5], [1, 1], [9, 3], [4, 2]], [[1, 1], [3, 1], [3, 3], [1, 1]]),
        ("prod", 2, [[2, 10], [2, 2], [18, 6], [8, 4]], [[2, 2], [6, 2], [6, 6], [2, 2]]),
    ],
)
def test_segments_by_offsets(reduce, initial, want, grad):
    x = data()
    found = torch.segment_reduce(x, reduce, offsets=torch.tensor(OFFSETS), initial=initial)
    assert found.tolist() == want
    found[[0, 2, 3]].sum().backward()
    assert x.grad.tolist() == grad


def test_the_mean_of_no_slice_is_nan():
    found = torch.segment_reduce(data(), "mean", offsets=torch.tensor(OFFSETS))
    assert found.isnan().tolist() == [[False] * 2, [True] * 2, [False] * 2, [False] * 2]


def test_segments_by_lengths_and_along_another_dimension():
    x = data().detach()
    by_lengths = torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 0, 2, 1]))
    assert by_lengths.tolist() == [[1, 5], [0, 0], [6, 4], [4, 2]]
    lengths = torch.tensor([[1, 1], [1, 1], [2, 0], [0, 2]])
    assert torch.segment_reduce(x, "sum", lengths=lengths, axis=1).tolist() == [
        [1, 5], [3, 3], [4, 0], [0, 6]
    ]  # fmt: skip
    shorter = torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 0, 2]), unsafe=True)
    assert shorter.tolist() == [[1, 5], [0, 0], [6, 4]]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({}, RuntimeError, "Either lengths or offsets must be defined"),
        ({"lengths": [1, 0, 2]}, RuntimeError, "Expected all rows of lengths along axis to sum"),
        ({"lengths": [5, -1, 0]}, RuntimeError, "lengths contains negative value!"),
        ({"offsets": [0, 4], "axis": 1}, RuntimeError, "Expected axis to be the last dimension of"),
        ({"offsets": [0.0, 4.0]}, NotImplementedError, "offsets_cpu_kernel1.* for 'Float'"),
    ],
)
def test_segments_that_do_not_fit_are_refused(options, error, message):
    given = {k: torch.tensor(v) if isinstance(v, list) else v for k, v in options.items()}
    with pytest.raises(error, match=message):
        torch.segment_reduce(data(), "sum", **given)
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch.segment_reduce(data().long(), "sum", offsets=torch.tensor([0, 4]))
    with pytest.raises(RuntimeError, match="sum, prod, mean, amax or amin, got median"):
        torch.segment_reduce(data(), "median", offsets=torch.tensor([0, 4]))


@pytest.mark.parametrize(
    ("reduce", "gradient"),
    [
        ("max", [1, 1, 0, 0, 0.5, 0.5]),
        ("min", [1, 1, 0, 1, 0, 0]),
        ("prod", [1, 3, math.nan, 25, 20, 20]),
    ],
)
def test_a_nan_takes_the_gradient_of_its_segment(reduce, gradient):
    x = torch.tensor([1, math.nan, 3, 4, 5, 5], requires_grad=True)
    y = torch.segment_reduce(x, reduce, lengths=torch.tensor([1, 2, 3]))
    assert y[1].isnan() and not y[[0, 2]].isnan().any()
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(gradient, nan_ok=True)


def test_axes_are_counted_from_the_end_too():
    x = torch.arange(6.0).reshape(2, 3)
    y = torch.segment_reduce(x, "sum", lengths=torch.tensor([[1, 2], [2, 1]]), axis=-1)
    assert y.tolist() == [[0, 3], [7, 5]]
