"""Arithmetic: sums, products, quotients, powers."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.inplace import in_place
from tapegrad.call import finish
from tapegrad.op import elementwise


@elementwise(ufunc="add")
def add_tensors(xp, input, other):
    """Sum of two tensors, element by element, with broadcasting."""
    return input + other


add_tensors.vjp(input=lambda g: g, other=lambda g: g)


@elementwise(ufunc="multiply")
def mul(xp, input, other):
    """Product of two tensors, element by element, with broadcasting."""
    return input * other


mul.vjp(input=lambda g, other: g * other, other=lambda g, input: g * input)
mul_ = in_place(mul)
