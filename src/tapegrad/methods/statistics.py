"""Methods that count, rank and compare: statistics."""

from tapegrad.later import method


class StatisticsMethods:
    """Counts, histograms, quantiles, correlations."""

    __slots__ = ()

    bincount = method("tapegrad.ops.tally", "bincount")
    histc = method("tapegrad.ops.tally", "histc")
    histogram = method("tapegrad.ops.bins", "histogram")
    quantile = method("tapegrad.ops.rank", "quantile")
    nanquantile = method("tapegrad.ops.rank", "nanquantile")
    cov = method("tapegrad.ops.correlation", "cov")
    corrcoef = method("tapegrad.ops.correlation", "corrcoef")
    sum_to_size = method("tapegrad.ops.place", "sum_to_size")
    fill_diagonal_ = method("tapegrad.ops.place", "fill_diagonal_")
    index_reduce = method("tapegrad.ops.along_reduced", "index_reduce")
    index_reduce_ = method("tapegrad.ops.along_reduced", "index_reduce_")
