"""Methods that reduce, sort and accumulate along dimensions."""

from tapegrad.later import method
from tapegrad.ops import fold as _fold
from tapegrad.ops import order as _order
from tapegrad.ops import peak as _peak
from tapegrad.ops import reduce as _reduce
from tapegrad.ops import scan as _scan
from tapegrad.ops import variance as _variance


class ReduceMethods:
    """Reductions, order, running sums."""

    __slots__ = ()

    # sums and products
    sum = _reduce.sum
    mean = _reduce.mean
    nansum = _reduce.nansum
    nanmean = _reduce.nanmean
    var = _variance.var
    std = _variance.std
    prod = _fold.prod
    logsumexp = _fold.logsumexp
    all = _fold.all
    any = _fold.any
    count_nonzero = _fold.count_nonzero

    # extrema
    max = _peak.max
    min = _peak.min
    amax = _peak.amax
    amin = _peak.amin
    aminmax = method("tapegrad.ops.both_ends", "aminmax")
    argmax = _peak.argmax
    argmin = _peak.argmin
    median = method("tapegrad.ops.middle", "median")
    nanmedian = method("tapegrad.ops.middle", "nanmedian")

    # order
    sort = _order.sort
    argsort = _order.argsort
    msort = _order.msort
    topk = _order.topk
    kthvalue = _order.kthvalue
    mode = _order.mode
    unique = _order.unique
    unique_consecutive = _order.unique_consecutive

    # running
    cumsum = _scan.cumsum
    cumsum_ = _scan.cumsum_
    cumprod = _scan.cumprod
    cumprod_ = _scan.cumprod_
    logcumsumexp = _scan.logcumsumexp
    cummax = _scan.cummax
    cummin = _scan.cummin
    diff = _scan.diff
