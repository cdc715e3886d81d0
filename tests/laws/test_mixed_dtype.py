"""Rules of calls whose operands have several dtypes: they compute in that of the result."""

import math

import pytest

import tapegrad as torch

INTEGERS = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
SLOPES = {
    "pow": (lambda n, x: n**x, lambda n, x: n**x * math.log(n)),
    "xlogy": (lambda n, x: torch.xlogy(x, n), lambda n, x: math.log(n)),
    "xlog1py": (lambda n, x: torch.special.xlog1py(x, n), lambda n, x: math.log1p(n)),
    "gammaincc": (
        lambda n, x: torch.special.gammaincc(n, x),
        lambda n, x: -(x ** (n - 1)) * math.exp(-x) / math.gamma(n),
    ),
    "atan2": (lambda n, x: torch.atan2(n, x), lambda n, x: -n / (n * n + x * x)),
}


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("name", SLOPES)
def test_a_low_operand_leaves_the_gradient_its_precision(name, dtype):
    function, slope = SLOPES[name]
    x = torch.tensor([2.5], dtype=torch.float64, requires_grad=True)
    n = torch.tensor([3], dtype=dtype)
    (g,) = torch.autograd.grad(function(n, x).sum(), x, create_graph=True)
    assert g.item() == pytest.approx(slope(3, 2.5), rel=1e-14)
    if not g.requires_grad:
        return  # linear in x
    (second,) = torch.autograd.grad(g, x)
    h = 1e-6
    approximately = (slope(3, 2.5 + h) - slope(3, 2.5 - h)) / (2 * h)
    assert second.item() == pytest.approx(approximately, rel=1e-8, abs=1e-12)


def test_bytes_do_not_wrap_around_in_rules():
    n = torch.tensor([200], dtype=torch.uint8)
    x = torch.tensor([100.0], requires_grad=True)
    torch.atan2(n, x).sum().backward()
    assert x.grad.item() == pytest.approx(-200 / (200**2 + 100**2))


def test_a_negative_base_with_a_complex_exponent():
    z = torch.tensor([1 + 1j], requires_grad=True)
    (torch.tensor([-2.0]) ** z).real.sum().backward()
    exact = (-2 + 0j) ** (1 + 1j) * (math.log(2) + math.pi * 1j)
    assert z.grad.item() == pytest.approx(exact.conjugate(), rel=1e-5)


def test_the_gradient_of_the_low_operand_has_its_dtype():
    x = torch.tensor([3.0], dtype=torch.float16, requires_grad=True)
    (x ** torch.tensor([2.5], dtype=torch.float64)).sum().backward()
    assert x.grad.dtype is torch.float16
    assert x.grad.item() == pytest.approx(2.5 * 3**1.5, rel=1e-3)
