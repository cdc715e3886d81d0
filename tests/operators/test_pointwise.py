"""Functions of each element: where derivatives are infinite, undefined or a convention."""

import math

import numpy as np
import pytest

import tapegrad as torch
from tests.operators.gradient import assert_equal_numbers, gradients, value_and_gradients

inf, nan = math.inf, math.nan
POINTS = [-1.0, 0.0, 1.0, 2.0, nan, inf, -inf]
E, LOG2 = math.e, math.log(2)
SLOPE = 2 / math.sqrt(math.pi)  # of erf at 0


@pytest.mark.parametrize(
    ("name", "values", "slopes"),
    [
        ("exp", [1 / E, 1, E, E * E, nan, inf, 0], [1 / E, 1, E, E * E, nan, inf, 0]),
        ("exp2", [0.5, 1, 2, 4, nan, inf, 0], [LOG2 * y for y in [0.5, 1, 2, 4, nan, inf, 0]]),
        (
            "expm1",
            [math.expm1(-1), 0, math.expm1(1), math.expm1(2), nan, inf, -1],
            [1 / E, 1, E, E * E, nan, inf, 0],
        ),
        ("log", [nan, -inf, 0, LOG2, nan, inf, nan], [-1, inf, 1, 0.5, nan, 0, 0]),
        (
            "log2",
            [nan, -inf, 0, 1, nan, inf, nan],
            [x / LOG2 for x in [-1, inf, 1, 0.5, nan, 0, 0]],
        ),
        ("log1p", [-inf, 0, LOG2, math.log(3), nan, inf, nan], [inf, 1, 0.5, 1 / 3, nan, 0, 0]),
        (
            "tanh",
            [*(math.tanh(x) for x in (-1, 0, 1, 2)), nan, 1, -1],
            [*(1 / math.cosh(x) ** 2 for x in (-1, 0, 1, 2)), nan, 0, 0],
        ),
        (
            "sigmoid",
            [*(1 / (1 + math.exp(-x)) for x in (-1, 0, 1, 2)), nan, 1, 0],
            [0.19661193324148185, 0.25, 0.19661193324148185, 0.10499358540350662, nan, 0, 0],
        ),
        ("logit", [nan, -inf, inf, nan, nan, nan, nan], [nan, inf, inf, nan, nan, nan, nan]),
        (
            "erf",
            [*(math.erf(x) for x in (-1, 0, 1, 2)), nan, 1, -1],
            [SLOPE / E, SLOPE, SLOPE / E, SLOPE / E**4, nan, 0, 0],
        ),
        (
            "erfc",
            [*(math.erfc(x) for x in (-1, 0, 1, 2)), nan, 0, 2],
            [-SLOPE / E, -SLOPE, -SLOPE / E, -SLOPE / E**4, nan, 0, 0],
        ),
        ("erfinv", [-inf, 0, inf, nan, nan, nan, nan], [inf, 1 / SLOPE, inf, nan, nan, nan, nan]),
        (
            "asin",
            [-math.pi / 2, 0, math.pi / 2, nan, nan, nan, nan],
            [inf, 1, inf, nan, nan, nan, nan],
        ),
        (
            "acos",
            [math.pi, math.pi / 2, 0, nan, nan, nan, nan],
            [-inf, -1, -inf, nan, nan, nan, nan],
        ),
        ("atanh", [-inf, 0, inf, nan, nan, nan, nan], [inf, 1, inf, -1 / 3, nan, 0, 0]),
        (
            "lgamma",
            [inf, inf, 0, 0, nan, inf, inf],
            [nan, -inf, -np.euler_gamma, None, nan, inf, nan],
        ),
        ("abs", [1, 0, 1, 2, nan, inf, inf], [-1, 0, 1, 1, 0, 1, -1]),
        ("frac", [0, 0, 0, 0, nan, nan, nan], [1] * 7),
        ("sign", [-1, 0, 1, 1, 0, 1, -1], [0] * 7),
        ("sgn", [-1, 0, 1, 1, 0, 1, -1], [0] * 7),
        ("floor", [-1, 0, 1, 2, nan, inf, -inf], [0] * 7),
        ("ceil", [-1, 0, 1, 2, nan, inf, -inf], [0] * 7),
        ("trunc", [-1, 0, 1, 2, nan, inf, -inf], [0] * 7),
        ("round", [-1, 0, 1, 2, nan, inf, -inf], [0] * 7),
        (
            "nan_to_num",
            [-1, 0, 1, 2, 0, 1.7976931348623157e308, -1.7976931348623157e308],
            [1, 1, 1, 1, 0, 0, 0],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(name, values, slopes):
    got, gradient = value_and_gradients(getattr(torch, name), POINTS)
    np.testing.assert_allclose(got, values, rtol=1e-14, atol=1e-15)
    known = [i for i, slope in enumerate(slopes) if slope is not None]
    np.testing.assert_allclose(
        [gradient[i] for i in known], [slopes[i] for i in known], rtol=1e-13, atol=1e-15
    )


def test_slopes_do_not_cancel_far_out():
    x = [18.0, -18.0]
    np.testing.assert_allclose(gradients(torch.tanh, x), [9.278e-16, 9.278e-16], rtol=0.3)
    assert all(g > 0 for g in gradients(torch.tanh, x))
    np.testing.assert_allclose(
        gradients(torch.sigmoid, [-700.0, 30.0]), [math.exp(-700), math.exp(-30)], rtol=1e-2
    )
    assert torch.sigmoid(torch.tensor([-100.0, 100.0])).tolist() == [0, 1]


def test_small_numbers_survive_expm1_and_log1p():
    x = torch.tensor([1e-10, -1e-10])
    for function in (torch.expm1, torch.log1p, torch.sinh, torch.asinh, torch.tanh, torch.atanh):
        np.testing.assert_allclose(function(x).numpy(), x.numpy(), rtol=1e-6)


def test_integers_become_the_default_dtype():
    x = torch.tensor([0, 1])
    for function in (torch.exp, torch.sigmoid, torch.sqrt, torch.erf, torch.deg2rad, torch.lgamma):
        assert function(x).dtype is torch.float32
    assert torch.exp(torch.tensor([True])).dtype is torch.float32
    for function in (torch.floor, torch.ceil, torch.round, torch.trunc, torch.abs, torch.sign):
        assert function(x).dtype is torch.int64


def test_an_in_place_function_refuses_integers():
    x = torch.tensor([1, 2])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        x.exp_()
    assert x.tolist() == [1, 2]


def test_powers_of_ten_have_whole_logarithms():
    assert torch.log10(torch.tensor([0.001, 1.0, 100.0, 1e6])).tolist() == [-3, 0, 2, 6]
    assert torch.log2(torch.tensor([0.25, 1.0, 8.0, 1024.0])).tolist() == [-2, 0, 3, 10]


def test_logit_keeps_away_from_the_ends_by_eps():
    x = [-1.0, 0.0, 0.05, 0.1, 0.5, 0.9, 0.95, 1.0, nan]
    values, slopes = value_and_gradients(lambda x: torch.logit(x, 0.1), x)
    low = -2.197224577336219
    np.testing.assert_allclose(values, [low, low, low, low, 0, -low, -low, -low, nan], atol=1e-15)
    np.testing.assert_allclose(slopes, [0, 0, 0, 100 / 9, 4, 100 / 9, 0, 0, nan])


def test_round_takes_halves_to_the_even_neighbour():
    x = torch.tensor([-2.5, -0.5, 0.5, 1.5, 2.5])
    assert torch.round(x).tolist() == [-2, 0, 0, 2, 2]
    assert torch.round(torch.tensor([1234.5]), decimals=-2).tolist() == [1200]
    np.testing.assert_allclose(torch.round(torch.tensor([0.126]), decimals=2).numpy(), [0.13])
    assert torch.round(torch.tensor([0.5], requires_grad=True), decimals=0).grad_fn.name() == (
        "RoundBackward1"
    )


@pytest.mark.parametrize(
    ("function", "dtype", "message"),
    [
        (torch.abs, torch.bool, "\"abs_cpu\" not implemented for 'Bool'"),
        (torch.floor, torch.bool, "\"floor_vml_cpu\" not implemented for 'Bool'"),
        (torch.frac, torch.int64, "\"frac_cpu\" not implemented for 'Long'"),
        (torch.floor, torch.complex64, "floor is not supported for complex inputs"),
        (
            torch.sign,
            torch.complex64,
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
            "torch.sgn instead.",
        ),
    ],
)
def test_a_type_without_the_function_is_refused(function, dtype, message):
    with pytest.raises(NotImplementedError) as error:
        function(torch.ones(2, dtype=dtype))
    assert str(error.value) == message
    assert error.value.__notes__


@pytest.mark.parametrize(
    ("name", "node"),
    [
        ("exp", "ExpBackward0"),
        ("exp2", "Exp2Backward0"),
        ("expm1", "Expm1Backward0"),
        ("log1p", "Log1PBackward0"),
        ("log10", "Log10Backward0"),
        ("deg2rad", "Deg2RadBackward0"),
        ("rad2deg", "Rad2DegBackward0"),
        ("nan_to_num", "NanToNumBackward0"),
        ("sigmoid", "SigmoidBackward0"),
        ("logit", "LogitBackward0"),
        ("abs", "AbsBackward0"),
        ("sgn", "SgnBackward0"),
        ("fix", "TruncBackward0"),
        ("round", "RoundBackward0"),
        ("digamma", "DigammaBackward0"),
        ("erfinv", "ErfinvBackward0"),
    ],
)
def test_nodes_have_the_names_of_pytorch(name, node):
    y = getattr(torch, name)(torch.tensor([0.5], requires_grad=True))
    assert y.grad_fn.name() == node
    assert len(y.grad_fn.next_functions) == 1


# --- of two operands -------------------------------------------------------------------------

A = [0, 0, 0, 0, 1, 2, -1, nan, 1, 0]
B = [0, 1, -1, 2, 0, 3, 2, 1, nan, nan]


def test_xlogy_is_zero_where_its_factor_is():
    values, first, second = value_and_gradients(torch.xlogy, A, B)
    log3 = math.log(3)
    assert_equal_numbers(values, [0, 0, 0, 0, -inf, 2 * log3, -LOG2, nan, nan, nan])
    assert_equal_numbers(first, [0, 0, 0, LOG2, -inf, log3, LOG2, 0, nan, nan])
    assert_equal_numbers(second, [nan, 0, 0, 0, inf, 2 / 3, -0.5, nan, nan, nan])


def test_xlogy_with_a_number():
    assert_equal_numbers(gradients(lambda x: torch.xlogy(x, 0), [0.0, 1.0, nan]), [0, -inf, -inf])
    assert_equal_numbers(gradients(lambda x: torch.xlogy(x, 2), [0.0, 1.0]), [LOG2, LOG2])
    assert_equal_numbers(gradients(lambda y: torch.xlogy(2, y), [0.0, 4.0]), [inf, 0.5])
    x = torch.ones(1, requires_grad=True)
    names = [y.grad_fn.name() for y in (torch.xlogy(x, x), torch.xlogy(2, x), torch.xlogy(x, 2))]
    assert names == ["XlogyBackward0", "XlogyBackward1", "XlogyBackward2"]


def test_atan2_has_no_slope_at_the_origin():
    first, second = gradients(torch.atan2, [0, 0, 0, 1, 2], [0, 1, -1, 0, 3])
    assert_equal_numbers(first, [0, 1, -1, 0, 3 / 13])
    assert_equal_numbers(second, [0, 0, 0, -1, -2 / 13])


def test_hypot_has_an_undefined_slope_at_the_origin():
    first, second = gradients(torch.hypot, [0, 0, 3], [0, -1, 4])
    assert_equal_numbers(first, [nan, 0, 0.6])
    assert_equal_numbers(second, [nan, -1, 0.8])


def test_copysign_has_no_slope_at_zero():
    first, second = gradients(torch.copysign, [0, 0, 1, -1, -2], [1, -1, -3, 2, -1])
    assert_equal_numbers(first, [0, 0, -1, -1, 1])
    assert_equal_numbers(second, [0] * 5)
    assert torch.copysign(torch.tensor([1.0]), -0.0).tolist() == [-1]


def test_logaddexp_takes_large_numbers():
    a, b = [inf, -inf, inf, -inf, 1000.0, -1000.0], [inf, -inf, -inf, inf, 0.0, 0.0]
    values, first, second = value_and_gradients(torch.logaddexp, a, b)
    assert_equal_numbers(values, [inf, -inf, inf, inf, 1000, 0])
    assert_equal_numbers(first, [nan, nan, 1, 0, 1, 0])
    assert_equal_numbers(second, [nan, nan, 0, 1, 0, 1])


def test_functions_of_two_tensors_take_no_numbers():
    for function in (torch.atan2, torch.hypot, torch.logaddexp, torch.maximum, torch.logical_and):
        with pytest.raises(TypeError, match=r"argument 'other' \(position 2\) must be Tensor"):
            function(torch.ones(2), 2.0)


def test_lerp_reaches_both_ends_exactly():
    a, b = torch.tensor([0.1, 1e8]), torch.tensor([0.7, 1.0])
    assert torch.lerp(a, b, 1.0).tolist() == b.tolist()
    assert torch.lerp(a, b, 0.0).tolist() == a.tolist()
    assert torch.lerp(a, b, torch.ones(2)).tolist() == b.tolist()
    first, second, third = gradients(torch.lerp, [1.0, 2.0], [3.0, 4.0], [0.2, 0.8])
    np.testing.assert_allclose([first, second, third], [[0.8, 0.2], [0.2, 0.8], [2, 2]])


def test_addcdiv_divides_no_integers():
    x = torch.ones(2, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="Integer division with addcdiv is no longer supported"):
        torch.addcdiv(x, x, x)
    assert torch.addcmul(x, x, x, value=2).tolist() == [3, 3]


def test_lerp_names_the_argument_of_another_dtype():
    x = torch.ones(2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match=r"^expected dtype c10::Half for `end` but got dtype fl"):
        x.lerp(torch.ones(2), 0.5)
    with pytest.raises(RuntimeError, match=r"^expected dtype c10::Half for `weight` but got dty"):
        x.lerp(x, torch.ones(2))


def test_an_incomplete_gamma_function_at_zero_does_not_ask_for_its_order():
    order, zero = torch.tensor([nan, 2.0, -1.0]), torch.tensor([0.0, -0.0, 0.0])
    assert_equal_numbers(torch.igamma(order, zero), [0.0, 0.0, nan])
    assert_equal_numbers(torch.igammac(order, zero), [1.0, 1.0, nan])
