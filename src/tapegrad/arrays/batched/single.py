"""Kernels of single elements that are told which arrays there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.arrays.batched.array import closed, opened, top_level
from tapegrad.arrays.batched.below import plain, values_of
from tapegrad.arrays.batched.loop import looped
from tapegrad.arrays.find import namespace_of

_loop_over_sets = looped("members")


def pointwise(function: Callable, arrays: tuple) -> Any:
    level = top_level(arrays)
    if level is None:
        return plain("pointwise")(function, arrays)
    values = values_of(level, *arrays)
    kernel = namespace_of([v for v in values if hasattr(v, "shape")]).pointwise
    return closed(level, kernel(function, tuple(values)), True)


def members(x: Any, among: Any, unique: bool, invert: bool) -> Any:
    level, (value, those), (is_mapped, own) = opened((x, among))
    if level is None:
        return plain("members")(x, among, unique, invert)
    if own:
        return _loop_over_sets(x, among, unique, invert)
    kernel = namespace_of((value, those)).members
    return closed(level, kernel(value, those, unique, invert), is_mapped)
