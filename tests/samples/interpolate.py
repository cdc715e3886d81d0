"""Samples of interpolation, sampling at grids, and shuffles of pixels."""

from __future__ import annotations

from typing import Any

from tapegrad.arrays.numpy.interpolate import Separable
from tapegrad.arrays.numpy.max_pool import regular
from tapegrad.operators.nn import interpolate_stencil
from tests.samples.sample import Make, Sample, row

# --- separable maps ----------------------------------------------------------------------------


@row
def resample(make: Make) -> list:
    window = regular(5, 3, 3, 2, 1).taps
    return [
        Sample(make(2, 5), through=Separable((window,))),
        Sample(make(2, 3), through=Separable((window,)).reverse),
        Sample(make(0, 5), through=Separable((window,), 3)),
        Sample(
            make(4, 4), through=Separable((interpolate_stencil.nearest(4, 4, None, False, True),))
        ),
    ]


def _sizes(n: int) -> list:
    """Sizes before and after, in n dimensions: larger, smaller, the same."""
    return [((4, 3, 2)[:n], (7, 5, 4)[:n]), ((5, 4, 3)[:n], (2, 3, 1)[:n]), ((3,) * n, (3,) * n)]


def _interpolated(make: Make, n: int, taps: Any) -> list:
    return [
        Sample(make(2, *before), through=Separable(tuple(map(taps, before, after))))
        for before, after in _sizes(n)
    ]


def _nearest(before: int, after: int) -> Any:
    return interpolate_stencil.nearest(before, after, None, False, True)


def _exact(before: int, after: int) -> Any:
    return interpolate_stencil.nearest(before, after, None, True, True)


def _straight(before: int, after: int) -> Any:
    return interpolate_stencil.straight(before, after, None, before > after, True)


@row
def upsample_nearest1d(make: Make) -> list:
    return _interpolated(make, 1, _nearest)


@row
def upsample_nearest2d(make: Make) -> list:
    return _interpolated(make, 2, _nearest)


@row
def upsample_nearest3d(make: Make) -> list:
    return _interpolated(make, 3, _nearest)


@row
def upsample_nearest_exact1d(make: Make) -> list:
    return _interpolated(make, 1, _exact)


@row
def upsample_nearest_exact2d(make: Make) -> list:
    return _interpolated(make, 2, _exact)


@row
def upsample_nearest_exact3d(make: Make) -> list:
    return _interpolated(make, 3, _exact)


@row
def upsample_linear1d(make: Make) -> list:
    return _interpolated(make, 1, _straight)


@row
def upsample_bilinear2d(make: Make) -> list:
    return _interpolated(make, 2, _straight)


@row
def upsample_trilinear3d(make: Make) -> list:
    return _interpolated(make, 3, _straight)


@row
def upsample_bicubic2d(make: Make) -> list:
    return _interpolated(make, 2, lambda n, m: interpolate_stencil.cubic(n, m, None, n > m, True))


@row
def upsample_bilinear2d_aa(make: Make) -> list:
    return _interpolated(
        make, 2, lambda n, m: interpolate_stencil.smoothed(n, m, None, False, True, "bilinear")
    )


@row
def upsample_bicubic2d_aa(make: Make) -> list:
    return _interpolated(
        make, 2, lambda n, m: interpolate_stencil.smoothed(n, m, None, False, True, "bicubic")
    )


@row
def upsample_lanczos2d_aa(make: Make) -> list:
    return _interpolated(
        make, 2, lambda n, m: interpolate_stencil.smoothed(n, m, None, False, True, "lanczos")
    )


# --- grids -------------------------------------------------------------------------------------


def _around(make: Make) -> tuple:
    """Pixels, some of them outside, and weights."""
    return make(2, 3, 4), make.integers(2, 3, 4, low=-1, high=6)


@row
def blend_points(make: Make) -> list:
    return [
        Sample(make(2, 3, 2, 3), *_around(make)),
        Sample(make(1, 0, 2, 3), make(1, 2, 4), make.integers(1, 2, 4)),
        Sample(make(0, 2, 3), make(0, 2, 4), make.integers(0, 2, 4)),
    ]


@row
def spread_points(make: Make) -> list:
    return [
        Sample(make(2, 3, 4), *_around(make), space=(2, 3)),
        Sample(make(1, 2, 0), make(1, 2, 0), make.integers(1, 2, 0), space=(2, 3)),
    ]


@row
def match_points(make: Make) -> list:
    return [
        Sample(make(2, 3, 4), make(2, 3, 2, 3), make.integers(2, 3, 4, low=-1, high=6)),
        Sample(make(1, 2, 0), make(1, 2, 2, 3), make.integers(1, 2, 0)),
    ]


@row
def grid_sampler_2d(make: Make) -> list:
    found = [
        Sample(
            make(2, 2, 4, 3),
            make(2, 2, 3, 2, low=-1.6, high=1.6),
            mode=mode,
            padding=padding,
            align=align,
        )
        for mode in range(3)
        for padding in range(3)
        for align in (False, True)
    ]
    one = make(1, 1, 1, 1), make(1, 2, 1, 2)
    return [*found, Sample(*one, mode=0, padding=2, align=True)]


@row
def grid_sampler_3d(make: Make) -> list:
    return [
        Sample(
            make(1, 2, 3, 2, 4),
            make(1, 1, 2, 2, 3, low=-1.6, high=1.6),
            mode=mode,
            padding=padding,
            align=align,
        )
        for mode, padding, align in ((0, 0, False), (0, 1, True), (0, 2, False), (1, 0, True))
    ]


@row
def affine_points(make: Make) -> list:
    return [
        Sample(make(2, 2, 3), space=(3, 4), align=True),
        Sample(make(1, 2, 3), space=(1, 2), align=False),
        Sample(make(1, 3, 4), space=(2, 1, 3), align=False),
    ]


# --- shuffles ----------------------------------------------------------------------------------


@row
def pixel_shuffle(make: Make) -> list:
    return [
        Sample(make(2, 8, 2, 3), factor=2),
        Sample(make(3, 2, 9).T, factor=3),
        Sample(make(2, 2, 2), factor=1),
        Sample(make(0, 4, 2, 2), factor=2),
    ]


@row
def pixel_unshuffle(make: Make) -> list:
    return [
        Sample(make(2, 1, 4, 6), factor=2),
        Sample(make(6, 3, 2).T, factor=3),
        Sample(make(0, 1, 2, 2), factor=2),
    ]


@row
def channel_shuffle(make: Make) -> list:
    return [
        Sample(make(2, 6, 3), groups=2),
        Sample(make(1, 6, 2, 2), groups=3),
        Sample(make(0, 4, 2, 2), groups=2),
    ]
