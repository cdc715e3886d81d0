"""Pooling, padding and resampling of batches: kernels of the last axes, or of whole images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.arrays.batched.array import Batched, closed, top_level
from tapegrad.arrays.batched.below import all_mapped, below, plain, values_of
from tapegrad.arrays.batched.classes import apart, together
from tapegrad.arrays.find import namespace_of


def _of_last_axes(name: str) -> Callable:
    """A kernel of one array that leaves its leading axes alone."""

    def function(x: Any, *args: Any) -> Any:
        if type(x) is not Batched:
            return plain(name)(x, *args)
        return closed(x.level, below(name, x)(x.value, *args), x.mapped)

    function.__name__ = name
    return function


pad_constant = _of_last_axes("pad_constant")
pad_edges = _of_last_axes("pad_edges")
resample = _of_last_axes("resample")
unpad_edges = _of_last_axes("unpad_edges")
window_maximum = _of_last_axes("window_maximum")


def take_places(x: Any, index: Any, n_axes: int) -> Any:
    if top_level((x, index)) is None:
        return plain("take_places")(x, index, n_axes)
    return all_mapped("take_places", (x, index), lambda kernel, *v: kernel(*v, n_axes))


def put_places(x: Any, index: Any, sizes: tuple[int, ...], add: bool) -> Any:
    if top_level((x, index)) is None:
        return plain("put_places")(x, index, sizes, add)
    return all_mapped("put_places", (x, index), lambda kernel, *v: kernel(*v, sizes, add))


def _of_images(name: str, n_arrays: int) -> Callable:
    """A kernel of images and points, the number of the image first."""

    def function(*args: Any) -> Any:
        arrays, rest = args[:n_arrays], args[n_arrays:]
        level = top_level(arrays)
        if level is None:
            return plain(name)(*args)
        values = [together(v) for v in values_of(level, *arrays)]
        out = getattr(namespace_of(values), name)(*values, *rest)
        return closed(level, apart(out, level.size), True)

    function.__name__ = name
    return function


blend_points = _of_images("blend_points", 3)
match_points = _of_images("match_points", 3)
spread_points = _of_images("spread_points", 3)
