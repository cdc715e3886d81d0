"""Methods of arithmetic, and the Python operators they stand behind."""

from tapegrad.dispatch.fast_pointwise import operator
from tapegrad.operators.pointwise import addcmul_lerp, arithmetic, division, power_sqrt
from tapegrad.operators.pointwise import remainder as leftover


def _divide_into(self, other):
    """`other / self`, as a product: whatever a tensor can be multiplied with."""
    try:
        return division.reciprocal(self) * other
    except TypeError:
        return NotImplemented


class ArithmeticMethods:
    """Sums, products, quotients, powers."""

    __slots__ = ()

    add = arithmetic.add
    add_ = arithmetic.add_
    sub = subtract = arithmetic.sub
    sub_ = subtract_ = arithmetic.sub_
    mul = multiply = arithmetic.mul
    mul_ = multiply_ = arithmetic.mul_
    neg = negative = arithmetic.neg
    neg_ = negative_ = arithmetic.neg_
    positive = arithmetic.positive
    div = divide = division.div
    div_ = divide_ = division.div_
    true_divide = division.true_divide
    true_divide_ = division.true_divide_
    reciprocal = division.reciprocal
    reciprocal_ = division.reciprocal_
    floor_divide = division.floor_divide
    floor_divide_ = division.floor_divide_
    remainder = leftover.remainder
    remainder_ = leftover.remainder_
    fmod = leftover.fmod
    fmod_ = leftover.fmod_
    pow = power_sqrt.pow
    pow_ = power_sqrt.pow_
    float_power = power_sqrt.float_power
    float_power_ = power_sqrt.float_power_
    addcmul = addcmul_lerp.addcmul
    addcmul_ = addcmul_lerp.addcmul_
    addcdiv = addcmul_lerp.addcdiv
    addcdiv_ = addcmul_lerp.addcdiv_
    lerp = addcmul_lerp.lerp
    lerp_ = addcmul_lerp.lerp_

    __add__ = __radd__ = operator(arithmetic.add)
    __sub__ = operator(arithmetic.sub)
    __rsub__ = operator(arithmetic.rsub)
    __mul__ = __rmul__ = operator(arithmetic.mul)
    __truediv__ = __div__ = operator(division.div)
    __rtruediv__ = __rdiv__ = _divide_into
    __floordiv__ = operator(division.floor_divide)
    __rfloordiv__ = operator(division.floor_divide, reverse=True)
    __mod__ = operator(leftover.remainder)
    __rmod__ = operator(leftover.remainder, reverse=True)
    __pow__ = operator(power_sqrt.pow)
    __rpow__ = operator(power_sqrt.pow, reverse=True)
    __neg__ = arithmetic.neg
    __pos__ = arithmetic.positive

    __iadd__ = operator(arithmetic.add_)
    __isub__ = operator(arithmetic.sub_)
    __imul__ = operator(arithmetic.mul_)
    __itruediv__ = __idiv__ = operator(division.div_)
    __ifloordiv__ = operator(division.floor_divide_)
    __imod__ = operator(leftover.remainder_)
    __ipow__ = operator(power_sqrt.pow_)
