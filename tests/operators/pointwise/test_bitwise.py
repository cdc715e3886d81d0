"""Bits, shifts and logic: results and refusals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tapegrad as torch

# --- bits ------------------------------------------------------------------------------------


@given(st.integers(-(2**31), 2**31), st.integers(-(2**31), 2**31))
def test_bits_of_integers_are_those_of_python(a, b):
    x, y = torch.tensor([a]), torch.tensor([b])
    assert (x & y).tolist() == [a & b]
    assert (x | y).tolist() == [a | b]
    assert (x ^ b).tolist() == [a ^ b]
    assert (~x).tolist() == [~a]
    assert (a & y).tolist() == [a & b]


@given(st.integers(-(2**31), 2**31), st.integers(0, 30))
def test_shifts_of_integers_are_those_of_python(a, places):
    x = torch.tensor([a])
    assert (x << places).tolist() == [a << places]
    assert (x >> places).tolist() == [a >> places]


def test_shifts_beyond_the_last_bit():
    x = torch.tensor([3, -2])
    assert (x << 100).tolist() == [0, 0]
    assert (x << -1).tolist() == [0, 0]
    assert (x >> 100).tolist() == [0, -1]
    assert (1 << torch.tensor([3, 2])).tolist() == [8, 4]


def test_bits_of_truth_values_are_logic():
    a, b = torch.tensor([True, True]), torch.tensor([True, False])
    assert (a & b).tolist() == [True, False]
    assert (a ^ b).tolist() == [False, True]
    assert (~b).tolist() == [False, True]
    assert (b | True).dtype is torch.bool
    assert (b & 2).tolist() == [0, 0]
    assert (b | torch.tensor([3, 3])).tolist() == [3, 3]


def test_bits_wrap_the_number_into_the_tensor():
    x = torch.tensor([3, -2], dtype=torch.int8)
    assert (x & 200).tolist() == [0, -56]
    assert (x | 200).dtype is torch.int8


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x & x, NotImplementedError, "\"bitwise_and_cpu\" not implemented for 'Float'"),
        (lambda x: x | 1, NotImplementedError, "\"bitwise_or_cpu\" not implemented for 'Float'"),
        (lambda x: x << 1, NotImplementedError, "\"lshift_cpu\" not implemented for 'Float'"),
        (
            lambda x: torch.bitwise_not(x),
            NotImplementedError,
            "\"bitwise_not_cpu\" not implemented for 'Float'",
        ),
        (
            lambda x: ~x,
            TypeError,
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors",
        ),
        (
            lambda x: (x > 0) << (x > 0),
            NotImplementedError,
            "\"lshift_cpu\" not implemented for 'Bool'",
        ),
        (
            lambda x: x.long() & 2.0,
            NotImplementedError,
            "\"bitwise_and_cpu\" not implemented for 'Float'",
        ),
    ],
)
def test_bits_of_floats_are_refused(call, error, message):
    with pytest.raises(error) as caught:
        call(torch.tensor([1.0, 2.0]))
    assert str(caught.value) == message


def test_logic_takes_whatever_is_not_zero_for_true():
    a, b = torch.tensor([0.0, 2.0, float("nan")]), torch.tensor([1, 0, 3])
    assert torch.logical_and(a, b).tolist() == [False, False, True]
    assert torch.logical_or(a, b).tolist() == [True, True, True]
    assert torch.logical_xor(a, b).tolist() == [True, True, False]
    assert torch.logical_not(b).tolist() == [False, True, False]
