"""Methods that reduce, sort, count and accumulate along dimensions."""

from tapegrad.core.lazy import method
from tapegrad.operators.reduction import logsumexp as _logsumexp
from tapegrad.operators.reduction import max_min, prod_all_any, sort_topk, sum_mean, var_std

_KTHVALUE = "tapegrad.operators.reduction.kthvalue_mode"
_UNIQUE = "tapegrad.operators.reduction.unique"
_CUMULATIVE = "tapegrad.operators.reduction.cumulative"


class ReduceMethods:
    """Reductions, order, running sums; counts, histograms, quantiles, correlations."""

    __slots__ = ()

    # sums and products
    sum = sum_mean.sum
    mean = sum_mean.mean
    nansum = sum_mean.nansum
    nanmean = sum_mean.nanmean
    var = var_std.var
    std = var_std.std
    prod = prod_all_any.prod
    logsumexp = _logsumexp.logsumexp
    all = prod_all_any.all
    any = prod_all_any.any
    count_nonzero = prod_all_any.count_nonzero

    hash_tensor = method("tapegrad.operators.reduction.hash_tensor", "hash_tensor")

    # extrema
    max = max_min.max
    min = max_min.min
    amax = max_min.amax
    amin = max_min.amin
    aminmax = method("tapegrad.operators.reduction.aminmax", "aminmax")
    argmax = max_min.argmax
    argmin = max_min.argmin
    median = method("tapegrad.operators.reduction.median", "median")
    nanmedian = method("tapegrad.operators.reduction.median", "nanmedian")

    # order
    sort = sort_topk.sort
    argsort = sort_topk.argsort
    msort = sort_topk.msort
    topk = sort_topk.topk
    kthvalue = method(_KTHVALUE)
    mode = method(_KTHVALUE)
    unique = method(_UNIQUE)
    unique_consecutive = method(_UNIQUE)

    # running
    cumsum, cumsum_ = method(_CUMULATIVE), method(_CUMULATIVE)
    cumprod, cumprod_ = method(_CUMULATIVE), method(_CUMULATIVE)
    logcumsumexp = method(_CUMULATIVE)
    cummax = method(_CUMULATIVE)
    cummin = method(_CUMULATIVE)
    diff = method(_CUMULATIVE)

    # statistics
    bincount = method("tapegrad.operators.reduction.bincount_histc", "bincount")
    histc = method("tapegrad.operators.reduction.bincount_histc", "histc")
    histogram = method("tapegrad.operators.reduction.histogram", "histogram")
    quantile = method("tapegrad.operators.reduction.quantile", "quantile")
    nanquantile = method("tapegrad.operators.reduction.quantile", "nanquantile")
    cov = method("tapegrad.operators.reduction.cov_corrcoef", "cov")
    corrcoef = method("tapegrad.operators.reduction.cov_corrcoef", "corrcoef")
    sum_to_size = method("tapegrad.operators.indexing.unravel_index", "sum_to_size")
    fill_diagonal_ = method("tapegrad.operators.indexing.unravel_index", "fill_diagonal_")
    index_reduce = method("tapegrad.operators.indexing.index_reduce", "index_reduce")
    index_reduce_ = method("tapegrad.operators.indexing.index_reduce", "index_reduce_")
