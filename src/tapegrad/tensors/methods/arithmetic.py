"""Methods of arithmetic, and the Python operators they stand behind."""

from tapegrad.core.torch_function import operated
from tapegrad.dispatch.apply import NUMBERS
from tapegrad.dispatch.fast_pointwise import operator
from tapegrad.operators.pointwise import (
    addcmul_addcdiv_lerp,
    arithmetic,
    divide_reciprocal,
    pow_sqrt_square,
    remainder_fmod,
)


def _divide_into(self, other):
    """`other / self`, as a product: whatever a tensor can be multiplied with."""
    if not isinstance(other, NUMBERS):
        again = operated("div", True, self, other)
        if again is not None:
            return again()
    try:
        return divide_reciprocal.reciprocal(self) * other
    except TypeError:
        return NotImplemented


class ArithmeticMethods:
    """Sums, products, quotients, powers."""

    __slots__ = ()

    add, add_ = arithmetic.add, arithmetic.add_
    sub = subtract = arithmetic.sub
    sub_ = subtract_ = arithmetic.sub_
    mul = multiply = arithmetic.mul
    mul_ = multiply_ = arithmetic.mul_
    neg = negative = arithmetic.neg
    neg_ = negative_ = arithmetic.neg_
    positive = arithmetic.positive
    div = divide = divide_reciprocal.div
    div_ = divide_ = divide_reciprocal.div_
    true_divide, true_divide_ = divide_reciprocal.true_divide, divide_reciprocal.true_divide_
    reciprocal, reciprocal_ = divide_reciprocal.reciprocal, divide_reciprocal.reciprocal_
    floor_divide, floor_divide_ = divide_reciprocal.floor_divide, divide_reciprocal.floor_divide_
    remainder, remainder_ = remainder_fmod.remainder, remainder_fmod.remainder_
    fmod, fmod_ = remainder_fmod.fmod, remainder_fmod.fmod_
    pow, pow_ = pow_sqrt_square.pow, pow_sqrt_square.pow_
    float_power, float_power_ = pow_sqrt_square.float_power, pow_sqrt_square.float_power_
    addcmul, addcmul_ = addcmul_addcdiv_lerp.addcmul, addcmul_addcdiv_lerp.addcmul_
    addcdiv, addcdiv_ = addcmul_addcdiv_lerp.addcdiv, addcmul_addcdiv_lerp.addcdiv_
    lerp, lerp_ = addcmul_addcdiv_lerp.lerp, addcmul_addcdiv_lerp.lerp_

    __add__ = __radd__ = operator(arithmetic.add)
    __sub__ = operator(arithmetic.sub)
    __rsub__ = operator(arithmetic.rsub)
    __mul__ = __rmul__ = operator(arithmetic.mul)
    __truediv__ = __div__ = operator(divide_reciprocal.div)
    __rtruediv__ = __rdiv__ = _divide_into
    __floordiv__ = operator(divide_reciprocal.floor_divide)
    __rfloordiv__ = operator(divide_reciprocal.floor_divide, reverse=True)
    __mod__ = operator(remainder_fmod.remainder)
    __rmod__ = operator(remainder_fmod.remainder, reverse=True)
    __pow__ = operator(pow_sqrt_square.pow.__wrapped__)
    __rpow__ = operator(pow_sqrt_square.pow.__wrapped__, reverse=True)
    __neg__ = arithmetic.neg
    __pos__ = arithmetic.positive

    __iadd__ = operator(arithmetic.add_)
    __isub__ = operator(arithmetic.sub_)
    __imul__ = operator(arithmetic.mul_)
    __itruediv__ = __idiv__ = operator(divide_reciprocal.div_)
    __ifloordiv__ = operator(divide_reciprocal.floor_divide_)
    __imod__ = operator(remainder_fmod.remainder_)
    __ipow__ = operator(pow_sqrt_square.pow_)
