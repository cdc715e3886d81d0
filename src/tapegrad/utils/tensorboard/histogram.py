"""Summaries of the distribution of many numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary

from tapegrad.core.errors import value_error
from tapegrad.utils.tensorboard.array import as_array


def default_bins() -> list[float]:
    """Edges that grow by a tenth from 1e-12 to 1e20, their negatives, and zero.

    >>> from tapegrad.utils.tensorboard.histogram import default_bins
    >>> len(default_bins()), default_bins()[774:777]
    (1549, [0, 1e-12, 1.1000000000000002e-12])
    """
    edges = []
    edge = 1e-12
    while edge < 1e20:
        edges.append(edge)
        edge *= 1.1
    return [*(-edge for edge in reversed(edges)), 0, *edges]


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How many of `values` lie between each two edges.

    Args:
        bins: the edges, their number, or the name of a rule of `numpy.histogram_bin_edges`.
        max_bins: neighbouring bins are added up until there are no more than so many.

    >>> from tapegrad.utils.tensorboard.summary import histogram
    >>> histo = histogram("w", torch.arange(4.0), bins=[0, 1, 2, 4]).value[0].histo
    >>> list(histo.bucket_limit), list(histo.bucket)
    ([0.0, 1.0, 2.0, 4.0], [0.0, 1.0, 1.0, 2.0])
    """
    histo = make_histogram(as_array(values).astype(float), bins, max_bins)
    return Summary(value=[Summary.Value(tag=name, histo=histo)])


def histogram_raw(
    name: str,
    min: float,
    max: float,
    num: int,
    sum: float,
    sum_squares: float,
    bucket_limits: Any,
    bucket_counts: Any,
) -> Any:
    """A distribution that was counted elsewhere.

    >>> from tapegrad.utils.tensorboard.summary import histogram_raw
    >>> histogram_raw("w", 0, 1, 3, 2, 2, [0.5, 1.0], [1, 2]).value[0].histo.num
    3.0
    """
    histo = HistogramProto(
        min=min,
        max=max,
        num=num,
        sum=sum,
        sum_squares=sum_squares,
        bucket_limit=bucket_limits,
        bucket=bucket_counts,
    )
    return Summary(value=[Summary.Value(tag=name, histo=histo)])


def make_histogram(values: np.ndarray, bins: Any, max_bins: int | None = None) -> Any:
    """The counts of `histogram` from the first bin that is not empty to the last.

    An empty bucket comes first: its limit is where the first one begins.
    """
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, edges = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, edges = _merged(counts, edges, len(counts) // max_bins)
    full = np.flatnonzero(counts)
    if not full.size:
        raise value_error(
            "The histogram is empty, please file a bug report.",
            f"None of the values lies between {edges[0]} and {edges[-1]}.",
        )
    first, last = full[0], full[-1]
    counts, edges = counts[first : last + 1], edges[first : last + 2]
    return HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=edges.tolist(),
        bucket=[0, *counts.tolist()],
    )


def _merged(counts, edges, n):
    """Bins of which each is `n` of the given ones."""
    counts = np.pad(counts, (0, -len(counts) % n)).reshape(-1, n).sum(axis=-1)
    return counts, np.append(edges[:-1:n], edges[-1])
