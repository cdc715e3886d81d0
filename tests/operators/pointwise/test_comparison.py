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
