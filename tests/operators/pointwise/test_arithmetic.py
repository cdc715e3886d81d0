"""Sums, differences, products: promotion, alpha, operators, nodes, errors."""

import numpy as np
import pytest

import tapegrad as torch


def dtypes(function):
    """The dtype of a result by the dtypes of two operands."""
    return {
        (a, b): function(torch.ones(2, dtype=a), torch.ones(2, dtype=b)).dtype
        for a in (torch.bool, torch.uint8, torch.int32, torch.float32)
        for b in (torch.bool, torch.int64, torch.float64)
    }


def test_products_promote_as_in_pytorch():
    assert dtypes(torch.mul) == {
        (torch.bool, torch.bool): torch.bool,
        (torch.bool, torch.int64): torch.int64,
        (torch.bool, torch.float64): torch.float64,
        (torch.uint8, torch.bool): torch.uint8,
        (torch.uint8, torch.int64): torch.int64,
        (torch.uint8, torch.float64): torch.float64,
        (torch.int32, torch.bool): torch.int32,
        (torch.int32, torch.int64): torch.int64,
        (torch.int32, torch.float64): torch.float64,
        (torch.float32, torch.bool): torch.float32,
        (torch.float32, torch.int64): torch.float32,
        (torch.float32, torch.float64): torch.float64,
    }


@pytest.mark.parametrize(
    ("tensor", "number", "dtype"),
    [
        (torch.int8, 1, torch.int8),
        (torch.int8, 1.5, torch.float32),
        (torch.int8, True, torch.int8),
        (torch.bool, 2, torch.int64),
        (torch.float32, 1.5, torch.float32),
        (torch.float32, 1j, torch.complex64),
        (torch.float64, 1j, torch.complex128),
    ],
)
def test_a_number_raises_the_dtype_only_by_its_category(tensor, number, dtype):
    x = torch.ones(2, dtype=tensor)
    assert (x + number).dtype is dtype
    assert (number + x).dtype is dtype


def test_integers_wrap_around():
    x = torch.tensor([3, -2], dtype=torch.int8)
    assert (x + 200).tolist() == [-53, -58]
    assert (torch.tensor([3, 2], dtype=torch.uint8) - 3).tolist() == [0, 255]
    assert (-torch.tensor([0, 1], dtype=torch.uint8)).tolist() == [0, 255]


def test_sums_and_products_of_truth_values_are_or_and_and():
    a, b = torch.tensor([True, True, False]), torch.tensor([True, False, False])
    assert (a + b).tolist() == [True, True, False]
    assert (a * b).tolist() == [True, False, False]


def test_alpha_scales_the_second_operand():
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])
    assert torch.add(a, b, alpha=2).tolist() == [21, 42]
    assert torch.sub(a, b, alpha=2).tolist() == [-19, -38]
    assert torch.rsub(a, b, alpha=2).tolist() == [8, 16]
    assert a.add(b, alpha=0.5).tolist() == [6, 12]
    assert a.clone().sub_(b, alpha=0.5).tolist() == [-4, -8]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_numbers_may_be_tensors_without_dimensions(dtype):
    a, b, two = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), torch.tensor(2, dtype=dtype)
    assert torch.add(a, b, alpha=two).tolist() == [21, 42]
    assert torch.sub(a, b, alpha=two).tolist() == [-19, -38]
    assert torch.rsub(a, b, alpha=two).tolist() == [8, 16]
    assert a.clone().add_(b, alpha=-two).tolist() == [-19, -38]
    assert torch._foreach_add([a], [b], alpha=two)[0].tolist() == [21, 42]
    assert torch.addcmul(a, b, b, value=two).tolist() == [201, 802]
    assert torch.lerp(a, b, two).tolist() == [19, 38]
    assert torch.add(a, b, alpha=two).dtype is torch.float32


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (torch.tensor([2.0]), "Tensor"),
        (torch.tensor(2.0, requires_grad=True), "Tensor"),
        (torch.nn.Parameter(torch.tensor(2.0)), "Parameter"),
    ],
)
def test_other_tensors_are_no_numbers(number, kind):
    a = torch.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=f"^add.*'alpha' must be Number, not {kind}"):
        torch.add(a, a, alpha=number)
    with pytest.raises(TypeError, match=f"^sub_.*'alpha' must be Number, not {kind}"):
        a.sub_(a, alpha=number)
    with pytest.raises(TypeError, match=f"^addcdiv.*'value' must be Number, not {kind}"):
        torch.addcdiv(a, a, a, value=number)


@pytest.mark.parametrize(
    ("alpha", "dtype", "message"),
    [
        (
            1.5,
            torch.int64,
            "For integral input tensors, argument alpha must not be a floating point number.",
        ),
        (True, torch.float32, "Boolean alpha only supported for Boolean results."),
        (
            2j,
            torch.float32,
            "For non-complex input tensors, argument alpha must not be a complex number.",
        ),
    ],
)
def test_an_alpha_the_result_cannot_hold_is_refused(alpha, dtype, message):
    x = torch.ones(2, dtype=dtype)
    for function in (torch.add, torch.sub, torch.rsub):
        with pytest.raises(RuntimeError) as error:
            function(x, x, alpha=alpha)
        assert str(error.value) == message


def test_differences_of_truth_values_are_refused():
    mask = torch.tensor([True, False])
    with pytest.raises(RuntimeError, match="with two bool tensors is not supported"):
        mask - mask
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        torch.ones(2) - mask
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        1 - mask
    with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
        torch.ones(2) - True
    with pytest.raises(RuntimeError, match="Negation, the `-` operator, on a bool tensor"):
        _ = -mask
    with pytest.raises(RuntimeError, match=r"The `\+` operator, on a bool tensor"):
        _ = +mask


# --- nodes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "node", "edges"),
    [
        (lambda x: x + x, "AddBackward0", 2),
        (lambda x: torch.add(x, x, alpha=2), "AddBackward0", 2),
        (lambda x: x - 1, "SubBackward0", 2),
        (lambda x: 1 - x, "RsubBackward1", 1),
        (lambda x: torch.rsub(x, x), "RsubBackward0", 2),
        (lambda x: 2 * x, "MulBackward0", 2),
        (lambda x: x / 2, "DivBackward0", 2),
        (lambda x: 2 / x, "MulBackward0", 2),
        (lambda x: -x, "NegBackward0", 1),
        (lambda x: torch.addcmul(x, x, x), "AddcmulBackward0", 3),
        (lambda x: torch.addcdiv(x, x, x), "AddcdivBackward0", 3),
        (lambda x: torch.lerp(x, x, 0.5), "LerpBackward0", 2),
        (lambda x: torch.lerp(x, x, x), "LerpBackward1", 3),
    ],
)
def test_nodes_have_the_names_and_edges_of_pytorch(function, node, edges):
    y = function(torch.ones(2, requires_grad=True))
    assert y.grad_fn.name() == node
    assert len(y.grad_fn.next_functions) == edges


def test_a_number_over_a_tensor_is_a_product_with_the_reciprocal():
    y = 2 / torch.ones(2, requires_grad=True)
    (node, _), (nothing, _) = y.grad_fn.next_functions
    assert node.name() == "ReciprocalBackward0"
    assert nothing is None


# --- Python's operators ----------------------------------------------------------------------


class Stranger:
    def __radd__(self, other):
        return "radd"

    def __rmul__(self, other):
        return "rmul"

    def __rpow__(self, other):
        return "rpow"

    def __rand__(self, other):
        return "rand"


def test_an_operator_leaves_what_it_does_not_know_to_the_other_operand():
    x = torch.ones(2)
    assert (x + Stranger(), x * Stranger(), x ** Stranger()) == ("radd", "rmul", "rpow")
    assert torch.tensor([True]) & Stranger() == "rand"
    assert x.__add__("a") is NotImplemented
    assert x.__eq__(None) is NotImplemented
    with pytest.raises(
        TypeError, match=r"unsupported operand type\(s\) for \+: 'Tensor' and 'str'"
    ):
        x + "a"
    with pytest.raises(TypeError, match="'<' not supported between instances of 'Tensor' and"):
        _ = x < None


def test_numbers_of_numpy_are_numbers():
    x = torch.ones(2, requires_grad=True)
    for y in (x * np.float32(2), np.float64(2) * x, x * np.int64(2)):
        assert y.dtype is torch.float32
        assert y.tolist() == [2, 2]
        assert y.grad_fn.name() == "MulBackward0"


def test_augmented_assignment_writes_in_place():
    x = torch.tensor([1.0, 2.0])
    same = x
    x += 1
    x *= 3
    x -= torch.tensor([0.0, 1.0])
    x /= 2
    x **= 2
    x //= 3
    x %= 2
    assert x is same
    assert x.tolist() == [1, 1]
    assert x._version == 7


def test_an_in_place_operator_keeps_the_dtype():
    x = torch.tensor([1, 2])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        x += 1.5
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output"):
        x.div_(2)
    assert x.tolist() == [1, 2]
    assert x._version == 0


def test_an_in_place_operator_cannot_enlarge():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.mul_(torch.ones(3, 2))


def test_functions_take_what_pytorch_takes():
    x = torch.ones(2)
    assert torch.mul(2, 3).item() == 6
    assert torch.mul(2, 3.0).dtype is torch.float32
    with pytest.raises(TypeError, match=r"add\(\): argument 'other' \(position 2\) must be Tensor"):
        torch.add(x, "a")
    with pytest.raises(TypeError, match=r"exp\(\): argument 'input' \(position 1\) must be Tensor"):
        torch.exp(2.0)
    out = torch.empty(2)
    assert torch.add(x, x, alpha=3, out=out) is out
    assert out.tolist() == [4, 4]


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(RuntimeError) as error:
        torch.ones(2, 3) + torch.ones(4)
    assert str(error.value) == (
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
    )


def test_large_tensors_give_what_small_ones_give(rng):
    a, b = rng.standard_normal((2, 400_000)).astype(np.float32)
    x, y = torch.from_numpy(a).requires_grad_(), torch.from_numpy(b).requires_grad_()
    z = (x * y + 0.5 * x - y / 2) * x.tanh()
    np.testing.assert_allclose(z.detach().numpy(), (a * b + 0.5 * a - b / 2) * np.tanh(a), 1e-5)
    z.sum().backward()
    t = np.tanh(a)
    want = (b + 0.5) * t + (a * b + 0.5 * a - b / 2) * (1 - t * t)
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(y.grad.numpy(), (a - 0.5) * t, rtol=1e-4, atol=1e-5)


def test_arrays_of_numpy_take_part_where_they_do_in_pytorch():
    x, array = torch.tensor([1.0, 2.0]), np.array([1.0, 3.0])
    for y, want in ((x + array, [2, 5]), (x * array, [1, 6]), (array / x, [1, 1.5])):
        assert type(y) is torch.Tensor
        assert (y.dtype, y.tolist()) == (torch.float64, want)
    assert (x == array).tolist() == [True, False]
    assert (x != array) is True
    for left in (array, "a"):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for -"):
            left - x
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for /: 'str' and 'Tensor'"):
        "a" / x
    with pytest.raises(TypeError, match=r"must be Tensor, not numpy\.ndarray"):
        torch.add(x, array)


# --- alpha ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [torch.add, torch.sub, torch.rsub])
def test_a_factor_of_bytes_wraps_around_or_is_refused(function):
    x, y = torch.tensor([231], dtype=torch.uint8), torch.tensor([3], dtype=torch.uint8)
    expected = {torch.add: 228, torch.sub: 234, torch.rsub: 3 + 231}[function]
    assert function(x, y, alpha=-1).item() == expected % 256
    with pytest.raises(RuntimeError, match="cannot be converted to type uint8_t without overflow"):
        function(x, y, alpha=300)
