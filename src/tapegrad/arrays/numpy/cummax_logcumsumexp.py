"""Kernels of running extrema and running log-sums."""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array


@kernel
def log_running_sum(x: Array, axis: int) -> Any:
    """log(sum(exp(x))) up to each place along `axis`."""
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, axis)
    y = np.empty_like(x)
    total: Any = -np.inf
    for i in range(x.shape[axis]):
        place = (slice(None),) * (axis % x.ndim) + (i,)
        y[place] = total = _log_sum(x[place], total)
    return y


def _log_sum(a: Array, b: Array) -> Any:
    """log(exp(a) + exp(b)) of complex numbers, by the one whose real part is larger."""
    first = np.real(a) > np.real(b)
    large: Any = np.where(first, a, b)
    small: Any = np.where(first, b, a)
    total = large + np.log1p(np.exp(small - large))
    total = np.where(np.real(small) == -np.inf, large, total)
    total = np.where(np.real(large) == -np.inf, -np.inf, total)
    total = np.where(np.real(small) == np.inf, complex(np.inf, np.nan), total)
    return np.where(np.isnan(a) | np.isnan(b), np.nan * (1 + 1j), total)


@kernel
def running_extremum(x: Array, axis: int, largest: bool) -> Any:
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
