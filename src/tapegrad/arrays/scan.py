"""Kernels of running extrema and running log-sums."""

from __future__ import annotations

from typing import Any

import numpy as np


def log_running_sum(x: Any, axis: int) -> Any:
    """log(sum(exp(x))) up to each place along `axis`."""
    return np.logaddexp.accumulate(x, axis)


def running_extremum(x: Any, axis: int, largest: bool) -> Any:
    """The index of the extremum so far along `axis`, the latest of equal ones; nan wins."""
    accumulate = np.maximum.accumulate if largest else np.minimum.accumulate
    best = accumulate(x, axis)
    hit = x == best
    if x.dtype.kind in "fc":
        hit |= np.isnan(x)
    shape = [1] * x.ndim
    shape[axis] = -1
    position = np.arange(x.shape[axis]).reshape(shape)
    return np.maximum.accumulate(np.where(hit, position, 0), axis)
