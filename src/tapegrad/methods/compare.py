"""Methods of comparison and logic, and their Python operators."""

from numpy import ndarray

from tapegrad.call_pointwise import operator
from tapegrad.ops import compare, logic
from tapegrad.tensor import wrap

_eq = operator(compare.eq)


def _equal(self, other):
    """`self == other`; PyTorch takes NumPy's arrays here, and only here."""
    result = _eq(self, other)
    if result is NotImplemented and isinstance(other, ndarray):
        return compare.eq(self, wrap(other))
    return result


class CompareMethods:
    """Results are truth values."""

    __slots__ = ()

    eq = compare.eq
    eq_ = compare.eq_
    ne = not_equal = compare.ne
    ne_ = not_equal_ = compare.ne_
    lt = less = compare.lt
    lt_ = less_ = compare.lt_
    le = less_equal = compare.le
    le_ = less_equal_ = compare.le_
    gt = greater = compare.gt
    gt_ = greater_ = compare.gt_
    ge = greater_equal = compare.ge
    ge_ = greater_equal_ = compare.ge_
    isnan = compare.isnan
    isinf = compare.isinf
    isfinite = compare.isfinite

    isclose = compare.isclose
    allclose = compare.allclose
    equal = compare.equal

    logical_and = logic.logical_and
    logical_and_ = logic.logical_and_
    logical_or = logic.logical_or
    logical_or_ = logic.logical_or_
    logical_xor = logic.logical_xor
    logical_xor_ = logic.logical_xor_
    logical_not = logic.logical_not
    logical_not_ = logic.logical_not_
    bitwise_and = logic.bitwise_and
    bitwise_and_ = logic.bitwise_and_
    bitwise_or = logic.bitwise_or
    bitwise_or_ = logic.bitwise_or_
    bitwise_xor = logic.bitwise_xor
    bitwise_xor_ = logic.bitwise_xor_
    bitwise_not = logic.bitwise_not
    bitwise_not_ = logic.bitwise_not_
    bitwise_left_shift = logic.bitwise_left_shift
    bitwise_left_shift_ = logic.bitwise_left_shift_
    bitwise_right_shift = logic.bitwise_right_shift
    bitwise_right_shift_ = logic.bitwise_right_shift_

    __eq__ = _equal
    __ne__ = operator(compare.ne)
    __lt__ = operator(compare.lt)
    __le__ = operator(compare.le)
    __gt__ = operator(compare.gt)
    __ge__ = operator(compare.ge)

    __and__ = __rand__ = operator(logic.bitwise_and)
    __or__ = __ror__ = operator(logic.bitwise_or)
    __xor__ = __rxor__ = operator(logic.bitwise_xor)
    __invert__ = logic.invert
    __lshift__ = operator(logic.bitwise_left_shift)
    __rlshift__ = operator(logic.bitwise_left_shift, reverse=True)
    __rshift__ = operator(logic.bitwise_right_shift)
    __rrshift__ = operator(logic.bitwise_right_shift, reverse=True)
    __iand__ = operator(logic.bitwise_and_)
    __ior__ = operator(logic.bitwise_or_)
    __ixor__ = operator(logic.bitwise_xor_)
    __ilshift__ = operator(logic.bitwise_left_shift_)
    __irshift__ = operator(logic.bitwise_right_shift_)

    def __hash__(self):
        return id(self)
