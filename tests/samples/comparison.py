"""Samples of comparisons, logic and bits, which have no derivative."""

from typing import Any

import numpy as np

from tests.samples.sample import Make, Sample, binary, row, unary


def _compared(make: Make) -> list:
    whole = make.integers(3)
    return [
        *binary(make),
        Sample(whole, whole[::-1]),
        Sample(make(3), 0.5),
        Sample(whole, 2),
        Sample(make.mask(3), make.mask(3)),
    ]


@row
def eq(make: Make) -> list:
    return _compared(make)


@row
def ne(make: Make) -> list:
    return _compared(make)


def _ordered(make: Make) -> list:
    return [s for s in _compared(make) if s.inputs[0].dtype.kind != "b"]


@row
def lt(make: Make) -> list:
    return _ordered(make)


@row
def le(make: Make) -> list:
    return _ordered(make)


@row
def gt(make: Make) -> list:
    return _ordered(make)


@row
def ge(make: Make) -> list:
    return _ordered(make)


def _odd_numbers(make: Make) -> list:
    return [*unary(make), Sample(np.array([np.nan, np.inf, -np.inf, 0.0]))]


@row
def isnan(make: Make) -> list:
    return _odd_numbers(make)


@row
def isinf(make: Make) -> list:
    return _odd_numbers(make)


@row
def isfinite(make: Make) -> list:
    return _odd_numbers(make)


@row
def isclose(make: Make) -> list:
    x = make(2, 3)
    strict: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}
    return [
        Sample(x, x + 1e-7, **strict),
        Sample(x, x[0], **{**strict, "rtol": 0.1}),
        Sample(np.array([np.nan]), np.array([np.nan]), **{**strict, "equal_nan": True}),
        Sample(make.integers(3), make.integers(3), **{**strict, "atol": 1.0}),
        Sample(x, x, rtol=0, atol=0, equal_nan=False),
    ]


# --- truth values and bits -------------------------------------------------------------------


def _true_or_not(make: Make) -> list:
    return [
        Sample(make.mask(2, 3), make.mask(3)),
        Sample(make.integers(3, high=2), make.integers(3, high=2)),
        Sample(make(3), np.array([0.0, 1.0, np.nan])),
    ]


@row
def logical_and(make: Make) -> list:
    return _true_or_not(make)


@row
def logical_or(make: Make) -> list:
    return _true_or_not(make)


@row
def logical_xor(make: Make) -> list:
    return _true_or_not(make)


@row
def logical_not(make: Make) -> list:
    return [Sample(make.mask(2, 3).T), Sample(make.integers(3, high=2)), Sample(make(3))]


def _bits(make: Make) -> list:
    return [
        Sample(make.integers(2, 3), make.integers(3)),
        Sample(make.integers(3, low=-4), 3),
        Sample(6, make.integers(3)),
    ]


@row
def bitwise_and(make: Make) -> list:
    return [*_bits(make), Sample(make.mask(3), make.mask(3))]


@row
def bitwise_or(make: Make) -> list:
    return [*_bits(make), Sample(make.mask(3), make.mask(3))]


@row
def bitwise_xor(make: Make) -> list:
    return [*_bits(make), Sample(make.mask(3), make.mask(3))]


@row
def bitwise_not(make: Make) -> list:
    return [Sample(make.mask(2, 3)), Sample(make.integers(3, low=-4))]


@row
def bitwise_left_shift(make: Make) -> list:
    return _bits(make)


@row
def bitwise_right_shift(make: Make) -> list:
    return _bits(make)
