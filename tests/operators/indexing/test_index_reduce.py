"""Slices reduced by index."""

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize(
    ("reduce", "include_self", "want"),
    [
        ("prod", True, [0, 3, 12, 9]),
        ("prod", False, [4, 3, 2, 9]),
        ("mean", True, [4 / 3, 3, 4, 9]),
        ("amax", True, [2, 3, 6, 9]),
        ("amin", False, [2, 3, 2, 9]),
    ],
)
def test_slices_are_reduced(reduce, include_self, want):
    x = torch.tensor([0.0, 3, 6, 9], requires_grad=True)
    index, source = torch.tensor([0, 2, 0]), torch.full((3,), 2.0)
    got = torch.index_reduce(x, 0, index, source, reduce, include_self=include_self)
    assert_near(got, torch.tensor(want, dtype=torch.float32))
    assert type(got.grad_fn).__name__ == "IndexReduceBackward0"


def test_bad_slices():
    x, index = torch.ones(4, 3), torch.tensor([0, 2, 0])
    with raises(
        RuntimeError,
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got sum.",
    ):
        x.index_reduce(0, index, torch.ones(3, 3), "sum")


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_no_slices_are_reduced_like_others(reduce):
    x = torch.tensor([[1.0, float("nan")], [0.0, -2.0]], requires_grad=True)
    source = torch.zeros(0, 2, requires_grad=True)
    y = x.index_reduce(0, torch.zeros(0, dtype=torch.long), source, reduce)
    assert type(y.grad_fn).__name__ == "IndexReduceBackward0"
    y.sum().backward()
    slope = 1 if reduce == "mean" else float("nan")  # of nan: no extremum, nor what divides
    assert x.grad.flatten().tolist() == pytest.approx([1, slope, 1, 1], nan_ok=True)
    assert source.grad.shape == (0, 2)
