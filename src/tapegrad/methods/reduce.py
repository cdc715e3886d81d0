"""Methods that reduce, sort and accumulate along dimensions."""

from tapegrad.ops import reduce as _reduce


class ReduceMethods:
    """Reductions."""

    __slots__ = ()

    sum = _reduce.sum
    mean = _reduce.mean
    nansum = _reduce.nansum
    nanmean = _reduce.nanmean
