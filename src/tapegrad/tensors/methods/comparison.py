"""Methods of comparison and logic, and their Python operators."""

from numpy import ndarray

from tapegrad.core.tensor_base import wrap
from tapegrad.core.torch_function import operated
from tapegrad.dispatch.fast_pointwise import operator
from tapegrad.operators.pointwise import bitwise, comparison

_eq = operator(comparison.eq)


def _equal(self, other):
    """`self == other`; PyTorch takes NumPy's arrays here, and only here."""
    again = None
    try:
        result = _eq(self, other)
        if result is NotImplemented:
            if isinstance(other, ndarray):
                return comparison.eq(self, wrap(other))
            again = operated("eq", False, self, other)
    except Exception:
        again = operated("eq", False, self, other)
        if again is None:
            raise
    return result if again is None else again()


class CompareMethods:
    """Results are truth values."""

    __slots__ = ()

    eq, eq_ = comparison.eq, comparison.eq_
    ne = not_equal = comparison.ne
    ne_ = not_equal_ = comparison.ne_
    lt = less = comparison.lt
    lt_ = less_ = comparison.lt_
    le = less_equal = comparison.le
    le_ = less_equal_ = comparison.le_
    gt = greater = comparison.gt
    gt_ = greater_ = comparison.gt_
    ge = greater_equal = comparison.ge
    ge_ = greater_equal_ = comparison.ge_
    isnan = comparison.isnan
    isinf = comparison.isinf
    isfinite = comparison.isfinite

    isclose = comparison.isclose
    allclose = comparison.allclose
    equal = comparison.equal

    logical_and, logical_and_ = bitwise.logical_and, bitwise.logical_and_
    logical_or, logical_or_ = bitwise.logical_or, bitwise.logical_or_
    logical_xor, logical_xor_ = bitwise.logical_xor, bitwise.logical_xor_
    logical_not, logical_not_ = bitwise.logical_not, bitwise.logical_not_
    bitwise_and, bitwise_and_ = bitwise.bitwise_and, bitwise.bitwise_and_
    bitwise_or, bitwise_or_ = bitwise.bitwise_or, bitwise.bitwise_or_
    bitwise_xor, bitwise_xor_ = bitwise.bitwise_xor, bitwise.bitwise_xor_
    bitwise_not, bitwise_not_ = bitwise.bitwise_not, bitwise.bitwise_not_
    bitwise_left_shift = bitwise.bitwise_left_shift
    bitwise_left_shift_ = bitwise.bitwise_left_shift_
    bitwise_right_shift = bitwise.bitwise_right_shift
    bitwise_right_shift_ = bitwise.bitwise_right_shift_

    __eq__ = _equal
    __ne__ = operator(comparison.ne)
    __lt__ = operator(comparison.lt)
    __le__ = operator(comparison.le)
    __gt__ = operator(comparison.gt)
    __ge__ = operator(comparison.ge)

    __and__ = __rand__ = operator(bitwise.bitwise_and)
    __or__ = __ror__ = operator(bitwise.bitwise_or)
    __xor__ = __rxor__ = operator(bitwise.bitwise_xor)
    __invert__ = bitwise.invert
    __lshift__ = operator(bitwise.bitwise_left_shift)
    __rlshift__ = operator(bitwise.bitwise_left_shift, reverse=True)
    __rshift__ = operator(bitwise.bitwise_right_shift)
    __rrshift__ = operator(bitwise.bitwise_right_shift, reverse=True)
    __iand__ = operator(bitwise.bitwise_and_)
    __ior__ = operator(bitwise.bitwise_or_)
    __ixor__ = operator(bitwise.bitwise_xor_)
    __ilshift__ = operator(bitwise.bitwise_left_shift_)
    __irshift__ = operator(bitwise.bitwise_right_shift_)

    def __hash__(self):
        return id(self)
