"""Logsumexp where elements are infinite or nan."""

import math

import pytest

import tapegrad as torch

INF, NAN = math.inf, math.nan
CASES = [
    ([1.0, NAN, 2.0], [NAN, NAN, NAN]),
    ([1.0, INF, 2.0], [0, NAN, 0]),
    ([-INF, -INF], [NAN, NAN]),
    ([INF, INF], [NAN, NAN]),
    ([-INF, 1.0], [0, 1]),
    ([1e30, -1e30], [1, 0]),
]


@pytest.mark.parametrize(("values", "gradient"), CASES)
def test_gradients_do_not_hide_what_is_not_finite(values, gradient):
    x = torch.tensor(values, requires_grad=True)
    x.logsumexp(0).backward()
    assert x.grad.tolist() == pytest.approx(gradient, nan_ok=True)
    one = torch.ones(len(values))
    _, tangent = torch.func.jvp(lambda x: x.logsumexp(0), (x.detach(),), (one,))
    assert tangent.item() == pytest.approx(sum(gradient), nan_ok=True)


def test_the_angle_of_a_complex_sum_is_that_of_its_logarithm():
    x = torch.tensor([1 + 9j, 2 - 5j], dtype=torch.complex128)
    y = torch.logsumexp(x, 0)
    assert y.item() == pytest.approx(x.exp().sum().log().item())
