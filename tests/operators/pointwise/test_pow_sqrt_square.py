"""Powers and roots: which derivative, at zero, of integers."""

import math

import pytest

import tapegrad as torch
from tests.operators.gradient import assert_equal_numbers, gradients, value_and_gradients

inf, nan, log2 = math.inf, math.nan, math.log(2)
POINTS = [-1.0, 0.0, 1.0, 2.0, nan, inf, -inf]


@pytest.mark.parametrize(
    ("exponent", "values", "slopes"),
    [
        (0, [1, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0, 0]),
        (1, [-1, 0, 1, 2, nan, inf, -inf], [1, 1, 1, 1, 1, 1, 1]),
        (2, [1, 0, 1, 4, nan, inf, inf], [-2, 0, 2, 4, nan, inf, -inf]),
        (3, [-1, 0, 1, 8, nan, inf, -inf], [3, 0, 3, 12, nan, inf, inf]),
        (0.5, [nan, 0, 1, 2**0.5, nan, inf, nan], [nan, inf, 0.5, 0.125**0.5, nan, 0, nan]),
        (-1, [-1, inf, 1, 0.5, nan, 0, 0], [-1, -inf, -1, -0.25, nan, 0, 0]),
        (-0.5, [nan, inf, 1, 0.5**0.5, nan, 0, nan], [nan, -inf, -0.5, -(2**-2.5), nan, 0, 0]),
        (1.5, [nan, 0, 1, 2**1.5, nan, inf, inf], [nan, 0, 1.5, 1.5 * 2**0.5, nan, inf, nan]),
    ],
)
def test_powers_by_numbers_differentiate_as_in_pytorch(exponent, values, slopes):
    got, gradient = value_and_gradients(lambda x: x**exponent, POINTS)
    assert_equal_numbers(got, values)
    assert_equal_numbers(gradient, slopes)


@pytest.mark.parametrize(
    ("base", "slopes"),
    [
        (0, [-inf, 0, 0, 0, nan, 0, -inf]),
        (1, [0] * 7),
        (2, [log2 / 2, log2, 2 * log2, 4 * log2, nan, inf, 0]),
        (-1, [nan] * 7),
    ],
)
def test_powers_of_numbers_differentiate_as_in_pytorch(base, slopes):
    assert_equal_numbers(gradients(lambda x: base**x, POINTS), slopes)


def test_powers_of_tensors_differentiate_as_in_pytorch():
    base = [0, 0, 0, 0, 1, 2, -1, -2, nan, 1, 0]
    exponent = [0, 1, -1, 2, 0, 3, 2, 0.5, 1, nan, nan]
    first, second = gradients(torch.pow, base, exponent)
    assert_equal_numbers(first, [0, 1, -inf, 0, 0, 12, -2, nan, 1, nan, nan])
    assert_equal_numbers(second, [0, 0, -inf, 0, 0, 8 * log2, nan, nan, nan, 0, nan])


def test_second_derivatives_of_powers_exist_at_zero():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    for exponent, want in ((2, [2, 2]), (3, [0, 6]), (1, [0, 0])):
        (first,) = torch.autograd.grad((x**exponent).sum(), x, create_graph=True)
        if not first.requires_grad:
            assert exponent == 1
            continue
        (second,) = torch.autograd.grad(first.sum(), x)
        assert second.tolist() == want


@pytest.mark.parametrize(
    ("function", "node", "edges"),
    [
        (lambda x: x**2, "PowBackward0", 1),
        (lambda x: x**x, "PowBackward1", 2),
        (lambda x: 2**x, "PowBackward2", 1),
        (torch.square, "PowBackward0", 1),
        (torch.sqrt, "SqrtBackward0", 1),
        (torch.rsqrt, "RsqrtBackward0", 1),
    ],
)
def test_nodes_have_the_names_and_edges_of_pytorch(function, node, edges):
    y = function(torch.ones(2, requires_grad=True))
    assert y.grad_fn.name() == node
    assert len(y.grad_fn.next_functions) == edges


def test_a_node_shows_its_exponent():
    assert (torch.ones(2, requires_grad=True) ** 3).grad_fn._saved_exponent == 3


def test_integers_have_integer_powers():
    x = torch.tensor([-2, 3])
    assert (x**3).tolist() == [-8, 27]
    assert (x**3).dtype is torch.int64
    assert (x**0.5).dtype is torch.float32
    assert (torch.tensor([1, -1, 2]) ** torch.tensor([-1, -3, -1])).tolist() == [1, -1, 0]
    assert (2 ** torch.tensor([0, 3])).tolist() == [1, 8]
    assert (torch.tensor([True, False]) ** 2).tolist() == [1, 0]
    with pytest.raises(RuntimeError) as error:
        x**-1
    assert str(error.value) == "Integers to negative integer powers are not allowed."


def test_float_powers_are_computed_in_double_precision():
    y = torch.float_power(torch.tensor([2, 3]), 2)
    assert (y.dtype, y.tolist()) == (torch.float64, [4, 9])
    x = torch.tensor([2.0], requires_grad=True)
    torch.float_power(x, 3).backward()
    assert (x.grad.dtype, x.grad.tolist()) == (torch.float32, [12])


def test_two_numbers_have_no_power():
    with pytest.raises(TypeError, match=r"pow\(\) received an invalid combination of arguments"):
        torch.pow(2, 3)


def test_roots_differentiate_at_zero_as_in_pytorch():
    assert_equal_numbers(gradients(torch.sqrt, [-1.0, 0.0, 4.0, inf]), [nan, inf, 0.25, 0])
    assert_equal_numbers(gradients(torch.rsqrt, [-1.0, 0.0, 4.0, inf]), [nan, -inf, -0.0625, 0])


def test_complex_powers_of_negative_numbers_have_gradients():
    exponent = torch.tensor([0.5 + 1j, 2 - 0.3j], dtype=torch.complex128, requires_grad=True)
    base = -torch.ones(2, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda y: torch.pow(base, y), (exponent,))
    assert torch.autograd.gradcheck(lambda y: torch.pow(-1, y), (exponent,))


@pytest.mark.parametrize("exponent", [2, 3, 0.5, -1])
def test_a_gradient_of_a_power_that_is_recorded_is_a_power_again(exponent):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = (x**exponent).sum()
    for _ in range(2):
        (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        nodes = [g.grad_fn]
        for _ in range(3):
            nodes.append(next(node for node, _ in nodes[-1].next_functions if node is not None))
        assert [node.name() for node in nodes] == [
            *("MulBackward0", "MulBackward1", "PowBackward0", "torch::autograd::AccumulateGrad")
        ]


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_zero_to_a_negative_power_is_infinite(dtype):
    zero, exponent = torch.zeros(2, dtype=dtype), torch.tensor([-1.5 + 1j, 2], dtype=dtype)
    for y in (zero**exponent, 0j**exponent):
        assert y.real.tolist() == [math.inf, 0] and y.imag.isnan().tolist() == [True, False]
    assert (zero**-1.5).real.tolist() == [math.inf, math.inf]


def nodes_behind(x):
    """The names of the nodes of a graph, from the result down, each once; - for no edge."""
    found, seen = [], set()

    def visit(node):
        if node is None or node in seen:
            return found.append("-" if node is None else "*")
        seen.add(node)
        found.append(node.name().removeprefix("torch::autograd::").removesuffix("Backward0"))
        for behind, _ in node.next_functions:
            visit(behind)
        return None

    visit(x.grad_fn)
    return " ".join(found)


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (
            torch.sqrt,
            "Div - MulBackward1 Sqrt AccumulateGrad",
            "Div MulBackward1 Mul - Div Div - MulBackward1 Sqrt AccumulateGrad * MulBackward1 *",
        ),
        (
            torch.tanh,
            "TanhBackward - Tanh AccumulateGrad",
            "TanhBackward Mul - Mul MulBackward1 Tanh AccumulateGrad - *",
        ),
        (
            torch.sigmoid,
            "SigmoidBackward - Sigmoid AccumulateGrad",
            "SigmoidBackward Mul - AddBackward1 MulBackward1 Sigmoid AccumulateGrad *",
        ),
    ],
)
def test_graphs_of_second_derivatives_multiply_by_numbers_as_pytorchs(function, first, second):
    x = torch.tensor([0.25, 0.5], requires_grad=True)
    (slope,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    assert nodes_behind(slope) == first
    (curvature,) = torch.autograd.grad(slope.sum(), x, create_graph=True)
    assert nodes_behind(curvature) == second
    torch.autograd.gradgradcheck(function, torch.tensor([0.25, 0.5]).double().requires_grad_())
