"""Complex functions and their derivatives, in four quadrants and on both sides of their cuts.

mpmath is the judge, with 30 digits. On a cut NumPy, as C99, takes the side of the sign of a zero:
there the derivative is the limit from that side.
"""

import itertools

import mpmath
import pytest

import tapegrad as torch

FUNCTIONS = {
    **{
        name: getattr(mpmath, name)
        for name in (
            "exp", "expm1", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
            "cosh", "tanh", "asinh", "acosh", "atanh",
        )
    },
    "exp2": lambda z: mpmath.power(2, z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
    "log1p": lambda z: mpmath.log(1 + z),
    "rsqrt": lambda z: 1 / mpmath.sqrt(z),
    "square": lambda z: z * z,
    "reciprocal": lambda z: 1 / z,
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "sinc": lambda z: mpmath.sinpi(z) / (mpmath.pi * z),
}  # fmt: skip
POWERS = [0.5, 2.0, -1.5, 3, 1.2 + 0.7j, -0.4j]
SIZES = (0.3, 0.6, 1.7, 3.1)
NEAR = 1e-9  # of the axes, where the cuts are

QUADRANTS = [
    complex(a * s, b * t)
    for a, b in itertools.product(SIZES, (0.2, 0.7, 2.2))
    for s, t in itertools.product((1, -1), repeat=2)
]
BESIDE_CUTS = [
    z
    for a, side, sign in itertools.product(SIZES, (NEAR, -NEAR), (1, -1))
    for z in (complex(sign * a, side), complex(side, sign * a))
]


def derivatives(function, z):
    """Value and derivative at `z`: in reverse mode, in forward mode, and in reverse mode twice."""
    x = torch.tensor(z, dtype=torch.complex128, requires_grad=True)
    y = function(x)
    (g,) = torch.autograd.grad(y.real, x, create_graph=True)
    one = torch.ones((), dtype=torch.complex128)
    value, tangent = torch.func.jvp(function, (x.detach(),), (one,))
    second = torch.autograd.grad(g.real, x)[0] if g.requires_grad else torch.zeros_like(x)
    assert value.item() == pytest.approx(y.item(), rel=1e-14)
    assert g.conj().item() == pytest.approx(tangent.item(), rel=1e-12, abs=1e-14)
    return y.item(), tangent.item(), second.conj().item()


def check(function, exact, z):
    with mpmath.workdps(40):
        w = mpmath.mpc(z.real, z.imag)
        h = mpmath.mpf(10) ** -13
        value = complex(exact(w))
        slope = complex((exact(w + h) - exact(w - h)) / (2 * h))
        curvature = complex((exact(w + h) - 2 * exact(w) + exact(w - h)) / (h * h))
    found = derivatives(function, z)
    scale = 1 + abs(curvature) + abs(slope)
    assert found[0] == pytest.approx(value, rel=1e-12, abs=1e-14)
    assert found[1] == pytest.approx(slope, rel=1e-9, abs=1e-11 * scale)
    assert found[2] == pytest.approx(curvature, rel=1e-7, abs=1e-8 * scale)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_in_four_quadrants_and_beside_the_cuts(name):
    for z in QUADRANTS + BESIDE_CUTS:
        check(getattr(torch, name), FUNCTIONS[name], z)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_a_cut_the_sign_of_zero_says_the_side(name):
    function = getattr(torch, name)
    for a, sign in itertools.product(SIZES, (1, -1)):
        for zero, side in ((0.0, NEAR), (-0.0, -NEAR)):
            on, beside = complex(sign * a, zero), complex(sign * a, side)
            for found, limit in zip(
                derivatives(function, on), derivatives(function, beside), strict=True
            ):
                assert found == pytest.approx(limit, rel=1e-5, abs=1e-6), (on, found, limit)


@pytest.mark.parametrize("power", POWERS)
def test_powers(power):
    for z in QUADRANTS + BESIDE_CUTS[::2]:
        check(lambda x: x**power, lambda w: mpmath.power(w, mpmath.mpmathify(power)), z)


@pytest.mark.parametrize("base", [2.0, 0.3, 1.2 + 0.7j, -0.4 - 0.9j])
def test_exponents(base):
    for z in QUADRANTS:
        check(lambda x: base**x, lambda w: mpmath.power(mpmath.mpmathify(base), w), z)


@pytest.mark.parametrize("other", [1.2 + 0.7j, -0.4 - 0.9j, -2.0])
def test_quotients(other):
    for z in QUADRANTS:
        check(lambda x: other / x, lambda w: mpmath.mpmathify(other) / w, z)
        check(lambda x: x / other, lambda w: w / mpmath.mpmathify(other), z)
