"""torch.masked against PyTorch 2.13."""

import math

import pytest

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near

X = [[0.0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(
    ("name", "arguments", "want"),
    [
        ("sum", (1,), [2.0, 8.0]),
        ("prod", ((0, 1),), 0.0),
        ("mean", ((),), 2.5),
        ("median", (1,), [0.0, 3.0]),
        ("argmax", (), 5.0),
        ("norm", (0.5, 1), [2.0, 15.745967]),
        ("norm", (-math.inf, 1), [0.0, 3.0]),
        ("var", (1,), [2.0, 2.0]),
        ("var", (1, False), [1.0, 1.0]),
        ("softmax", (1,), [[0.11920292, 0.0, 0.880797]] * 2),
        ("logsumexp", (1,), [2.126928, 5.126928]),
        ("cumsum", (1,), [[0.0, 0.0, 2.0], [3.0, 3.0, 8.0]]),
        ("normalize", (2.0, 1), [[0.0, 0.0, 1.0], [0.51449573, 0.0, 0.8574929]]),
    ],
)
def test_only_unmasked_elements_count(name, arguments, want):
    mask = torch.tensor([True, False, True])
    got = getattr(torch.masked, name)(torch.tensor(X), *arguments, mask=mask)
    assert_near(got, torch.tensor(want))


def test_what_is_left_of_nothing():
    nothing = torch.zeros(3, dtype=torch.bool)
    x = torch.tensor(X)
    assert torch.masked.sum(x, mask=nothing).item() == 0
    assert torch.masked.mean(x, 1, mask=nothing).isnan().all().item()
    assert torch.masked.amax(torch.arange(3), 0, mask=nothing).item() == -(2**63)
    assert torch.masked.softmax(x, 1, mask=nothing).isnan().all().item()


def test_gradients_stop_at_the_mask():
    x = torch.tensor(X, requires_grad=True)
    torch.masked.mean(x, 1, mask=torch.tensor([True, False, True])).sum().backward()
    assert x.grad.tolist() == [[0.5, 0, 0.5], [0.5, 0, 0.5]]


def test_bad_arguments():
    x = torch.tensor(X)
    with raises(
        IndexError,
        "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
        "input)",
    ):
        torch.masked.sum(x, 1, mask=torch.ones(1, 1, 1, dtype=torch.bool))
    with raises(RuntimeError, "dim=0 appears multiple times in the list of dims"):
        torch.masked.sum(x, (0, 0))
    with raises(
        ValueError,
        "mean(): Could not infer output dtype. Input dtype must be either a floating point or "
        "complex dtype. Got: torch.int64",
    ):
        torch.masked.mean(torch.arange(3), 0)
