"""Kernels of padding: a border of one number, or of numbers from inside.

`padding` has two numbers for each axis, before and after, the last axis first. Negative ones cut
off.
"""

import numpy as np

from tapegrad.arrays.kernel import kernel
from tapegrad.core.annotations import Any, Array
from tapegrad.core.memory_format import channels_last, channels_last_3d, has_format, permuted


def _pairs(padding: tuple[int, ...]) -> list[tuple[int, int]]:
    """(before, after) of each axis, in the order of the axes."""
    return [(padding[i], padding[i + 1]) for i in range(len(padding) - 2, -1, -2)]


def _empty(x: Array, shape: tuple[int, ...]) -> Any:
    """An array of `shape` with its axes in memory in the order of those of `x`."""
    if not x.flags.c_contiguous and (
        has_format(x, channels_last) or has_format(x, channels_last_3d)
    ):
        return permuted(shape, x.dtype, (0, *range(2, x.ndim), 1))
    return np.empty(shape, x.dtype)


@kernel
def pad_constant(x: Array, padding: tuple[int, ...], value: Array) -> Any:
    """`x` with a border of `value`."""
    if not any(padding):
        return x.copy("K")
    pairs = _pairs(padding)
    lead = x.ndim - len(pairs)
    shape = list(x.shape[:lead])
    inside: list[Any] = [...]
    part: list[Any] = [...]
    for n, (before, after) in zip(x.shape[lead:], pairs, strict=True):
        shape.append(n + before + after)
        part.append(slice(max(-before, 0), n - max(-after, 0)))
        inside.append(slice(max(before, 0), n + before + min(after, 0)))
    out = _empty(x, tuple(shape))
    if any(p > 0 for p in padding):
        out[...] = value
    out[tuple(inside)] = x[tuple(part)]
    return out


def _ends(mode: str, n: int, before: int, after: int) -> list[tuple[slice, slice]]:
    """Places of a border along an axis, and those inside whose numbers they have.

    The axis has `n` elements, padded `before` and `after`; places are those of the padded axis.
    """
    last = before + n - 1
    if mode == "reflect":
        stop = last - 1 - after
        left = slice(2 * before, before, -1)
        right = slice(last - 1, stop if stop >= 0 else None, -1)
    elif mode == "replicate":
        left, right = slice(before, before + 1), slice(last, last + 1)
    else:
        left, right = slice(n, n + before), slice(before, before + after)
    found = [(slice(0, before), left)] if before else []
    return [*found, (slice(last + 1, last + 1 + after), right)] if after else found


def _changes(padding: tuple[int, ...]) -> tuple[list, list]:
    """What is added to each axis, and what is cut off it: afterwards, but first for "circular"."""
    pairs = _pairs(padding)
    return (
        [(max(before, 0), max(after, 0)) for before, after in pairs],
        [(max(-before, 0), max(-after, 0)) for before, after in pairs],
    )


def _cut(shape: tuple[int, ...], cuts: list) -> tuple:
    """The part of an array of `shape` that is left after cutting its last axes."""
    sizes = shape[len(shape) - len(cuts) :]
    return (..., *[slice(a, n - b) for n, (a, b) in zip(sizes, cuts, strict=True)])


@kernel
def pad_edges(x: Array, padding: tuple[int, ...], mode: str) -> Any:
    """`x` with a border that mirrors it, repeats its edges, or goes around it."""
    added, cuts = _changes(padding)
    if mode == "circular":
        x = x[_cut(x.shape, cuts)]
    lead = x.ndim - len(added)
    sizes = [n + a + b for n, (a, b) in zip(x.shape[lead:], added, strict=True)]
    shape = (*x.shape[:lead], *sizes)
    out = np.empty(shape, x.dtype) if mode == "circular" else _empty(x, shape)
    out[_cut(out.shape, added)] = x
    for i, (before, after) in enumerate(added):
        axis = (slice(None),) * (lead + i)
        for border, inside in _ends(mode, x.shape[lead + i], before, after):
            out[(*axis, border)] = out[(*axis, inside)]
    if mode == "circular" or not any(map(any, cuts)):
        return out
    part = out[_cut(out.shape, cuts)]
    result = _empty(x, part.shape)
    result[...] = part
    return result


@kernel
def unpad_edges(g: Array, padding: tuple[int, ...], mode: str) -> Any:
    """The gradient of `pad_edges`: numbers of the border added to those they were taken from."""
    added, cuts = _changes(padding)
    lead = g.ndim - len(added)
    afterwards = cuts if mode != "circular" else [(0, 0)] * len(cuts)
    sizes = [n + a + b for n, (a, b) in zip(g.shape[lead:], afterwards, strict=True)]
    total = np.zeros((*g.shape[:lead], *sizes), g.dtype)
    total[_cut(total.shape, afterwards)] = g
    for i in range(len(added) - 1, -1, -1):
        before, after = added[i]
        axis = (slice(None),) * (lead + i)
        for border, inside in _ends(mode, sizes[i] - before - after, before, after):
            part = total[(*axis, border)]
            if mode == "replicate":
                part = part.sum(lead + i, keepdims=True, dtype=g.dtype)
            total[(*axis, inside)] += part
    inner = total[_cut(total.shape, added)]
    if mode == "circular" and any(map(any, cuts)):
        sizes = [n + a + b for n, (a, b) in zip(inner.shape[lead:], cuts, strict=True)]
        whole = np.zeros((*g.shape[:lead], *sizes), g.dtype)
        whole[_cut(whole.shape, cuts)] = inner
        return whole
    return np.ascontiguousarray(inner)
