"""Reductions whose arguments have NumPy's names."""

import pytest

import tapegrad as torch

NAMES = [
    {"axis": -1, "keepdim": True},
    {"axis": 0, "keepdims": True},
    {"axis": (0, 1), "keepdim": True},
    {"dim": 1, "keepdims": True},
]


@pytest.mark.parametrize("names", NAMES, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean", "nansum", "amax", "std", "logsumexp"])
def test_axis_and_keepdims_are_dim_and_keepdim(name, names):
    x = torch.arange(6.0).view(2, 3)
    dim = names["axis"] if "axis" in names else names["dim"]
    expected = getattr(torch, name)(x, dim=dim, keepdim=True)
    for found in (getattr(x, name)(**names), getattr(torch, name)(x, **names)):
        assert found.shape == expected.shape and torch.equal(found, expected)


def test_axis_beside_a_dtype():
    x = torch.ones(2, 3)
    found = x.sum(axis=1, keepdim=True, dtype=torch.float64)
    assert found.dtype is torch.float64 and found.tolist() == [[3.0], [3.0]]


@pytest.mark.parametrize(
    ("other", "first"),
    [
        ("arctan", "atan"),
        ("arccosh_", "acosh_"),
        ("multiply", "mul"),
        ("divide", "div"),
        ("subtract", "sub"),
        ("clip", "clamp"),
        ("greater_equal", "ge"),
        ("negative", "neg"),
        ("fix", "trunc"),
        ("ger", "outer"),
    ],
)
def test_another_name_of_a_function_is_a_function_of_that_name(other, first):
    a, b = getattr(torch, other), getattr(torch, first)
    assert a is not b
    assert (a.__name__, a.__code__.co_name, a.__module__) == (other, other, b.__module__)
    with pytest.raises(TypeError, match=rf"^{other}\(\)"):
        a([1])
