"""Levels of forward mode within each other: no tangent is taken for that of another level."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.func import grad, jacfwd, jacrev, jvp

ONE = torch.tensor(1.0, dtype=torch.float64)


def slope(f):
    return lambda x: jvp(f, (x,), (torch.ones_like(x),))[1]


def test_an_inner_level_does_not_see_the_tangents_of_an_outer_one():
    f = lambda x: x * jvp(lambda y: x + y, (ONE,), (ONE,))[1]  # noqa: E731
    value, found = jvp(f, (3 * ONE,), (ONE,))
    assert (value.item(), found.item()) == (3, 1)


def test_the_same_tensor_is_primal_in_one_level_and_constant_in_another():
    f = lambda x: jvp(lambda y: x * y * y, (x,), (ONE,))[1]  # noqa: E731
    value, found = jvp(f, (3 * ONE,), (ONE,))
    assert (value.item(), found.item()) == (18, 12)


def test_tangents_may_depend_on_the_point():
    f = lambda x: jvp(torch.sin, (x * x,), (x,))[1]  # noqa: E731
    x = 0.5 * ONE
    expected = np.cos(0.25) - 2 * 0.25 * np.sin(0.25)
    assert jvp(f, (x,), (ONE,))[1].item() == pytest.approx(expected, rel=1e-12)
    assert grad(f)(x).item() == pytest.approx(expected, rel=1e-12)


def test_derivatives_of_the_fifth_order():
    f, expected = torch.sin, np.sin
    for order in range(1, 6):
        f = slope(f)
        expected = np.sin(0.7 + order * np.pi / 2)
        assert f(0.7 * ONE).item() == pytest.approx(expected, rel=1e-12)


def quadratic(x):
    return (x**3).sum() * x[0] + torch.tanh(x[1] * x[2])


def written(x):
    c = x.clone()
    c[0] = x[1] * x[2]
    c[1:].mul_(x[0])
    return (c * c).sum()


@pytest.mark.parametrize("f", [quadratic, written])
def test_every_order_of_modes_gives_the_same_hessian(f):
    x = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64)
    step = 1e-5
    rows = []
    for i in range(3):
        shift = torch.zeros(3, dtype=torch.float64)
        shift[i] = step
        rows.append((grad(f)(x + shift) - grad(f)(x - shift)) / (2 * step))
    expected = torch.stack(rows).numpy()
    for outer in (jacfwd, jacrev):
        for inner in (jacfwd, jacrev):
            np.testing.assert_allclose(outer(inner(f))(x).numpy(), expected, rtol=1e-7, atol=1e-7)


def test_forward_over_reverse_twice():
    f = lambda x: torch.sin(x * x) * x  # noqa: E731
    twice = lambda x: jvp(grad(f), (x,), (x,))[1]  # noqa: E731
    x = 0.5 * ONE
    step = 1e-5
    difference = (twice(x + step) - twice(x - step)) / (2 * step)
    assert jvp(twice, (x,), (ONE,))[1].item() == pytest.approx(difference.item(), rel=1e-8)
