"""Levels of forward mode within each other, and the graphs of tangents."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd import forward_ad
from tapegrad.func import grad, jacfwd, jacrev, jvp
from tapegrad.nn import functional as F

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


# --- the graph of a tangent -----------------------------------------------------------------------

C = torch.tensor([[0.5, 1.5], [2.0, 0.75]])
TIED = {  # PyTorch has a term for the operand that does not change, zero times this one
    "mul": lambda x: x * C,
    "a number times": lambda x: 2 * x,
    "div": lambda x: x / C,
    "divided by a number": lambda x: x / 2,
    "fmod": lambda x: x.fmod(C),
    "remainder": lambda x: x.remainder(C),
    "addcmul": lambda x: torch.addcmul(C, x, C),
    "matmul": lambda x: x @ C,
    "matmul, second": lambda x: C @ x,
    "mv": lambda x: x @ C[0],
    "linear": lambda x: F.linear(x, C, C[0]),
    "conv1d": lambda x: F.conv1d(x[None], torch.ones(3, 2, 1)),
    "solve": lambda x: torch.linalg.solve(C + 3 * torch.eye(2), x),
    "dropout": lambda x: F.dropout(x, 0.5),
    "relu": torch.relu,
    "leaky_relu": F.leaky_relu,
    "hardtanh": F.hardtanh,
    "prelu": lambda x: F.prelu(x, torch.tensor([0.2])),
}
APART = {
    "add": lambda x: x + C,
    "sub": lambda x: C - x,
    "sum": lambda x: x.sum(0),
    "maximum": lambda x: x.maximum(C),
    "where": lambda x: torch.where(C > 1, x, C),
    "fmod by a number": lambda x: x.fmod(2),
    "t": lambda x: x.t(),
    "cumsum": lambda x: x.cumsum(0),
    "amax": lambda x: x.amax(0),
}


def tangent_of(function):
    x = torch.tensor([[0.3, -1.25], [2.5, 0.7]], requires_grad=True)
    with forward_ad.dual_level():
        t = forward_ad.unpack_dual(function(forward_ad.make_dual(x, torch.ones(2, 2)))).tangent
    return x, t


@pytest.mark.parametrize("name", TIED)
def test_the_tangent_of_a_linear_function_requires_grad_and_has_zeros_for_a_gradient(name):
    x, t = tangent_of(TIED[name])
    assert t.requires_grad
    assert not torch.autograd.grad(t.sum(), x)[0].any()


@pytest.mark.parametrize("name", APART)
def test_the_tangent_of_a_sum_or_a_choice_has_no_graph(name):
    assert not tangent_of(APART[name])[1].requires_grad


def test_the_tie_of_a_tangent_changes_no_value():
    x = torch.tensor([float("inf"), 1.0], requires_grad=True)
    with forward_ad.dual_level():
        t = forward_ad.unpack_dual(forward_ad.make_dual(x, torch.tensor([2.0, 3.0])) * 5).tangent
    assert t.tolist() == [10.0, 15.0]
