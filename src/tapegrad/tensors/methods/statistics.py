"""Methods that count, rank and compare: statistics."""

from tapegrad.core.lazy import method


class StatisticsMethods:
    """Counts, histograms, quantiles, correlations."""

    __slots__ = ()

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
