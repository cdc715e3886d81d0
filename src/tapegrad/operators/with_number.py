"""Sums and products with a plain number, as parts of a larger function.

PyTorch's own functions name these nodes differently from those a user writes: `x + 1` in Python
makes an `AddBackward0`.
"""

from tapegrad.dispatch.op import elementwise, vjp


@vjp(x=lambda g: g)
@elementwise(node="AddBackward1", promote="float")
def plus_number(xp, x, *, number):
    """Each element plus a number."""
    return x + number


@vjp(x=lambda g: g)
@elementwise(node="SubBackward1", promote="float")
def minus_number(xp, x, *, number):
    """Each element minus a number."""
    return x - number


@vjp(x=lambda g, number: g * number)
@elementwise(node="MulBackward1", promote="float")
def times_number(xp, x, *, number):
    """Each element times a number."""
    return x * number


@vjp(x=lambda g, number: g / number)
@elementwise(node="DivBackward1", promote="float")
def over_number(xp, x, *, number):
    """Each element divided by a number."""
    return x / number


times_number.recorded(x=lambda g, number: times_number(g, number=number))
over_number.recorded(x=lambda g, number: over_number(g, number=number))
