"""Comparisons: results, promotion, refusals."""

import numpy as np
import pytest

import tapegrad as torch


def test_comparisons_promote_their_operands():
    x = torch.tensor([16777217])
    assert (x == 16777217.0).tolist() == [True]
    assert (torch.tensor([1, 2]) < torch.tensor([1.5, 1.5])).tolist() == [True, False]
    assert (torch.tensor([3, -2], dtype=torch.int8) == 200).tolist() == [False, False]
    assert (torch.tensor([1.0]) == None) is False  # noqa: E711
    assert (torch.tensor([1.0]) != "a") is True


def test_comparisons_have_no_gradient():
    x = torch.ones(2, requires_grad=True)
    for y in (x > 0, x == x, x.isnan(), torch.logical_and(x, x), x.ne(2)):
        assert not y.requires_grad
        assert y.dtype is torch.bool


def test_comparisons_in_place_keep_the_dtype():
    x = torch.tensor([1.0, 2.0])
    assert x.gt_(1).tolist() == [0, 1]
    assert x.dtype is torch.float32
    assert x.logical_not_().tolist() == [1, 0]


def test_a_number_comes_second():
    for function in (torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge):
        with pytest.raises(TypeError, match="received an invalid combination of arguments"):
            function(2.0, torch.ones(2))


def test_complex_numbers_have_no_order():
    with pytest.raises(NotImplementedError, match="\"lt_cpu\" not implemented for 'ComplexFloat'"):
        torch.lt(torch.tensor([1j]), torch.tensor([1j]))
    assert (torch.tensor([1j]) == torch.tensor([1j])).tolist() == [True]


def test_tensors_are_keys():
    x, y = torch.ones(2), torch.ones(2)
    assert {x: 1, y: 2}[x] == 1
    assert hash(x) == id(x)


# --- nearness --------------------------------------------------------------------------------


def test_isclose_adds_its_tolerances():
    a = torch.tensor([1.0, 2.0, float("inf"), float("nan")])
    b = torch.tensor([1.000001, 2.1, float("inf"), float("nan")])
    assert torch.isclose(a, b).tolist() == [True, False, True, False]
    assert torch.isclose(a, b, atol=0.2, equal_nan=True).tolist() == [True] * 4
    assert torch.isclose(torch.tensor([1]), torch.tensor([2]), atol=1).tolist() == [True]
    assert torch.allclose(a[:1], b[:1]) is True
    assert torch.allclose(a, b) is False


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: torch.isclose(x, x.double()), RuntimeError, "Float did not match Double"),
        (
            lambda x: torch.isclose(x, x, rtol=-1),
            RuntimeError,
            "rtol must be greater than or equal to zero, but got -1",
        ),
        (
            lambda x: torch.isclose(x, x, atol=-1),
            RuntimeError,
            "atol must be greater than or equal to zero, but got -1",
        ),
        (
            lambda x: torch.isclose(x, 1.0),
            TypeError,
            "isclose(): argument 'other' (position 2) must be Tensor, not float",
        ),
    ],
)
def test_isclose_refuses_what_pytorch_refuses(call, error, message):
    with pytest.raises(error) as caught:
        call(torch.ones(2))
    assert str(caught.value) == message


def test_equal_compares_shapes_and_values():
    assert torch.equal(torch.tensor([1]), torch.tensor([1.0]))
    assert not torch.equal(torch.tensor([1]), torch.tensor([[1]]))
    assert not torch.equal(torch.tensor([1]), torch.tensor([2]))
    assert torch.equal(torch.ones(0), torch.zeros(0))


def test_large_comparisons_are_made_in_blocks(rng):
    a = rng.standard_normal(300_000).astype(np.float32)
    x = torch.from_numpy(a)
    np.testing.assert_array_equal((x > 0.5).numpy(), a > 0.5)
    np.testing.assert_array_equal(((x > 0) & (x < 1)).numpy(), (a > 0) & (a < 1))


# --- in place --------------------------------------------------------------------------------

ORDERED = ("eq_", "ne_", "lt_", "le_", "gt_", "ge_")


@pytest.mark.parametrize("name", ORDERED)
def test_what_a_comparison_writes_has_a_place_in_the_graph(name):
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    z = torch.tensor([2.0, 2.0, 2.0], requires_grad=True)
    for a, other, edges in (
        (torch.ones(2, 3), z, [None, "torch::autograd::AccumulateGrad"]),
        (w * 1, torch.ones(3), ["MulBackward0", None]),
        (w * 1, z, ["MulBackward0", "torch::autograd::AccumulateGrad"]),
        (w * 1, 2.0, ["MulBackward0"]),
    ):
        expected = getattr(a.detach(), name[:-1])(other).float()
        result = getattr(a, name)(other)
        assert result is a and a.requires_grad and a.tolist() == expected.tolist()
        number = type(other) is float
        assert a.grad_fn.name() == f"{name[:-1].capitalize()}Backward{0 if number else 1}"
        assert [e and e.name() for e, _ in a.grad_fn.next_functions] == edges
        sources = [x for x, edge in zip((w, z), edges, strict=False) if edge]
        for slope in torch.autograd.grad(a.sum(), sources, create_graph=True):
            assert slope.tolist() == [0, 0, 0] and not slope.requires_grad


@pytest.mark.parametrize("name", ORDERED)
def test_comparisons_in_place_of_views_leaves_and_without_grad(name):
    z = torch.ones(2, requires_grad=True)
    base = torch.ones(3)
    getattr(base[:2], name)(z)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert torch.autograd.grad(base.sum(), z)[0].tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in"):
        getattr(z, name)(torch.ones(2))
    x = torch.ones(2)
    with torch.no_grad():
        getattr(x, name)(z)
    assert not x.requires_grad
    assert getattr(torch.ones(2, dtype=torch.int64), name)(z).requires_grad  # as in PyTorch


def test_comparisons_in_place_inside_of_transforms_have_slope_zero():
    def f(v):
        a = v * 2
        a.eq_(v.flip(0) * 2)
        return (a * v).sum()

    x = torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    middle = [0, 1, 0]
    assert torch.func.grad(f)(x[0]).tolist() == middle
    assert torch.func.vmap(torch.func.grad(f))(x).tolist() == [middle, middle]
    assert torch.func.jvp(f, (x[0],), (torch.ones(3),))[1].item() == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_nearness_takes_tolerances_as_tensors_without_dimensions(dtype):
    a, b = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.5])
    one, zero = torch.tensor(1, dtype=dtype), torch.tensor(0, dtype=dtype)
    assert torch.isclose(a, b, rtol=zero, atol=one).tolist() == [True, False]
    assert torch.isclose(a, b, rtol=one, atol=zero).tolist() == [True, True]
    assert torch.allclose(a, b, rtol=one) is True
    assert torch.allclose(a, b, atol=one) is False
    for given in (torch.ones(1, dtype=dtype), torch.tensor(1.0, requires_grad=True)):
        with pytest.raises(TypeError, match="'atol' must be float, not Tensor"):
            torch.allclose(a, b, atol=given)
