"""Methods of comparison and logic, and their Python operators."""

from tapegrad.call import operator
from tapegrad.ops import compare


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

    __eq__ = operator(compare.eq)
    __ne__ = operator(compare.ne)
    __lt__ = operator(compare.lt)
    __le__ = operator(compare.le)
    __gt__ = operator(compare.gt)
    __ge__ = operator(compare.ge)

    def __hash__(self):
        return id(self)
