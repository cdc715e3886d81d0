"""Samples of pooling and unpooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.arrays.numpy.interpolate import Separable
from tapegrad.arrays.numpy.max_pool import adaptive, regular
from tapegrad.operators.nn import adaptive_pool, avg_pool
from tests.samples.sample import Make, Sample, row

# --- largest elements --------------------------------------------------------------------------


def _windows(sizes: tuple[int, ...], kernel: int, stride: int, padding: int) -> tuple:
    return tuple(
        regular(n, (n + 2 * padding - kernel) // stride + 1, kernel, stride, padding) for n in sizes
    )


@row
def max_pool2d_with_indices(make: Make) -> list:
    return [
        Sample(make.distinct(2, 2, 4, 6), windows=_windows((4, 6), 2, 2, 0)),
        Sample(make.distinct(1, 5, 4), windows=_windows((5, 4), 3, 1, 1)),
        Sample(
            make.distinct(1, 5, 7), windows=tuple(regular(n, n - 2, 2, 1, 0, 2) for n in (5, 7))
        ),
        Sample(make.distinct(5, 4, 2).T, windows=_windows((4, 5), 3, 2, 1)),
        Sample(make(0, 2, 4, 4), windows=_windows((4, 4), 2, 2, 0)),
    ]


@row
def max_pool3d_with_indices(make: Make) -> list:
    return [
        Sample(make.distinct(1, 2, 4, 2, 4), windows=_windows((4, 2, 4), 2, 2, 0)),
        Sample(make.distinct(1, 3, 3, 4), windows=_windows((3, 3, 4), 3, 2, 1)),
    ]


@row
def adaptive_max_pool2d(make: Make) -> list:
    return [
        Sample(make.distinct(2, 1, 4, 6), windows=(adaptive(4, 2), adaptive(6, 4))),
        Sample(make.distinct(1, 5, 3), windows=(adaptive(5, 3), adaptive(3, 5))),
        Sample(make.distinct(1, 5, 3), windows=(adaptive(5, 0), adaptive(3, 2))),
    ]


@row
def adaptive_max_pool3d(make: Make) -> list:
    windows = (adaptive(2, 1), adaptive(3, 2), adaptive(4, 2))
    return [Sample(make.distinct(1, 2, 2, 3, 4), windows=windows)]


@row
def fractional_max_pool2d(make: Make) -> list:
    samples = make(2, 3, 2, low=0, high=1)
    return [
        Sample(make.distinct(2, 3, 6, 7), samples, kernel=(2, 3), sizes=(3, 2), fixed=(1,)),
        Sample(make.distinct(1, 4, 4), samples[:1, :1], kernel=(2, 2), sizes=(1, 3), fixed=(1,)),
    ]


@row
def fractional_max_pool3d(make: Make) -> list:
    samples = make(1, 2, 3, low=0, high=1)
    return [
        Sample(make.distinct(1, 2, 4, 5, 4), samples, kernel=(2, 2, 1), sizes=(2, 3, 2), fixed=(1,))
    ]


@row
def take_places(make: Make) -> list:
    return [
        Sample(make(2, 3, 4), make.integers(2, 2, 2, high=12), n_axes=2),
        Sample(make(0, 3, 4), make.integers(0, 2, 2), n_axes=2),
    ]


@row
def put_places(make: Make) -> list:
    apart = make.rng.permutation(12)[:4].reshape(1, 2, 2)
    return [
        Sample(make(2, 2, 2), make.integers(2, 2, 2, high=12), sizes=(3, 4), add=True),
        Sample(make(1, 2, 2), apart, sizes=(3, 4), add=False),
        Sample(make(0, 2, 2), make.integers(0, 2, 2), sizes=(3, 4), add=True),
    ]


@row
def max_unpool2d(make: Make) -> list:
    places = np.stack([make.rng.permutation(20)[:6] for _ in range(2)]).reshape(2, 2, 3)
    return [
        Sample(make(2, 2, 3), places, sizes=(4, 5)),
        Sample(make(0, 2, 2), make.integers(0, 2, 2), sizes=(4, 4)),
    ]


@row
def max_unpool3d(make: Make) -> list:
    places = make.rng.permutation(24)[:8].reshape(1, 1, 2, 2, 2)
    return [Sample(make(1, 1, 2, 2, 2), places, sizes=(2, 3, 4))]


def _average(shape: tuple, kernel: tuple, stride: tuple, padding: tuple, *rest: Any) -> Separable:
    counts = tuple(
        (n + 2 * p - k) // s + 1 for n, k, s, p in zip(shape, kernel, stride, padding, strict=True)
    )
    return avg_pool.averaging(shape, counts, kernel, stride, padding, *rest)


@row
def avg_pool2d(make: Make) -> list:
    return [
        Sample(make(2, 1, 4, 6), through=_average((4, 6), (2, 2), (2, 2), (0, 0), True, None)),
        Sample(make(1, 5, 4), through=_average((5, 4), (3, 2), (2, 1), (1, 1), False, None)),
        Sample(make(4, 5, 1).T, through=_average((5, 4), (3, 2), (2, 1), (1, 1), True, 7)),
        Sample(make(0, 1, 4, 4), through=_average((4, 4), (2, 2), (2, 2), (0, 0), True, None)),
    ]


@row
def avg_pool3d(make: Make) -> list:
    through = _average((3, 4, 3), (2, 2, 3), (1, 2, 1), (1, 0, 1), False, None)
    return [Sample(make(1, 2, 3, 4, 3), through=through)]


@row
def adaptive_avg_pool2d(make: Make) -> list:
    return [
        Sample(make(2, 1, 5, 4), through=adaptive_pool.averaging((5, 4), (3, 2))),
        Sample(make(1, 2, 3), through=adaptive_pool.averaging((2, 3), (4, 3))),
        Sample(make(1, 2, 3), through=adaptive_pool.averaging((2, 3), (0, 3))),
    ]


@row
def adaptive_avg_pool3d(make: Make) -> list:
    return [Sample(make(1, 2, 3, 4), through=adaptive_pool.averaging((2, 3, 4), (1, 2, 3)))]
