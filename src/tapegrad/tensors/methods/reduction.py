"""Methods that reduce, sort and accumulate along dimensions."""

from tapegrad.core.lazy import method
from tapegrad.operators.reduction import cumulative as _scan
from tapegrad.operators.reduction import max_min as _peak
from tapegrad.operators.reduction import prod_all_any as _fold
from tapegrad.operators.reduction import sort_topk as _order
from tapegrad.operators.reduction import sum_mean as _reduce
from tapegrad.operators.reduction import var_std as _variance


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
    aminmax = method("tapegrad.operators.reduction.aminmax", "aminmax")
    argmax = _peak.argmax
    argmin = _peak.argmin
    median = method("tapegrad.operators.reduction.median", "median")
    nanmedian = method("tapegrad.operators.reduction.median", "nanmedian")

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
