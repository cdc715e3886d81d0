"""Normally distributed numbers, to the bit those of PyTorch on x86-64 with AVX2.

Source: Box and Muller, 1958, in the two ways PyTorch uses it. Where PyTorch has no vector code (on
ARM, or with ATEN_CPU_CAPABILITY=default), its float32 blocks differ from these in the last bits.
"""

import math
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tapegrad.core.streams import BLOCK, BLOCKS
from tapegrad.core.streams.mersenne_twister import TO_FRACTION_64, Twister
from tapegrad.core.streams.recorded import recorded
from tapegrad.core.streams.rounding import cast, fma64, libm
from tapegrad.core.threads import at_once, n_threads

_SINGLE = np.dtype(np.float32)
_FEW = 1024  # numbers: up to here a call costs more than its work
_SHARED = 2**17  # numbers: from here on threads share the work
_TWO_PI = 2 * math.pi
_EXP_LIMIT = 709.0  # Python's exp raises from 709.79 on


@recorded
def normal(
    stream: Twister,
    shape: tuple[int, ...],
    dtype: np.dtype,
    mean: float = 0.0,
    std: float = 1.0,
    is_strided: bool = False,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Normal numbers of mean `mean` and standard deviation `std`.

    From 16 elements on they are made in blocks of 16, unless they are to be stored with strides;
    a complex number is two reals of half the variance, `mean` being added to both. `out` is
    contiguous memory of that shape and dtype to write them to.

    >>> import numpy as np
    >>> from tapegrad.core.streams.normal import normal
    >>> from tapegrad.core.streams.mersenne_twister import Twister
    >>> normal(Twister(0), (2,), np.dtype("float32"))
    array([ 1.5409961, -0.2934289], dtype=float32)
    """
    if out is None:
        out = np.empty(shape, dtype)
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}")
        parts = out.reshape(-1).view(real)
        normal(stream, parts.shape, real, mean, std / math.sqrt(2), is_strided, parts)
    elif out.size < BLOCK or is_strided:
        out.reshape(-1)[:] = cast(_in_pairs(stream, out.size, mean, std), dtype)
    else:
        _fill_blocks(stream, out.reshape(-1), mean, std)
    return out


@recorded
def log_normal(
    stream: Twister, shape: tuple[int, ...], dtype: np.dtype, mean: float, std: float
) -> np.ndarray:
    """Exponentials of normal numbers, which are always made in pairs."""
    x = _in_pairs(stream, math.prod(shape), mean, std)
    with np.errstate(over="ignore"):
        y = np.exp(x)
    if dtype == np.float64:
        y = np.where(x < _EXP_LIMIT, libm(math.exp, np.minimum(x, _EXP_LIMIT)), y)
    return cast(y, dtype).reshape(shape)


def _in_pairs(stream: Twister, n: int, mean: float, std: float) -> np.ndarray:
    """`n` float64, two from each two fractions; the stream keeps an odd one for the next call."""
    with stream.lock:
        kept = [] if stream.normal is None or n == 0 else [stream.normal]
        n_pairs = (n - len(kept) + 1) // 2
        angle, x = stream.fractions64(2 * n_pairs).reshape(n_pairs, 2).T
        radius = np.sqrt(-2 * libm(math.log1p, -x))
        angle = _TWO_PI * angle
        drawn = np.empty((n_pairs, 2))
        drawn[:, 0] = radius * np.cos(angle)
        drawn[:, 1] = radius * np.sin(angle)
        found = np.concatenate([kept, drawn.ravel()])
        if n:
            stream.normal = float(found[n]) if found.size > n else None
    return fma64(found[:n], std, mean)


def _fill_blocks(stream: Twister, out: np.ndarray, mean: float, std: float) -> None:
    """At least 16 numbers; if the last block is not full, 16 new ones replace the last 16."""
    n = out.size
    with stream.lock:
        if n <= _FEW and out.dtype == _SINGLE:
            _fill_few(stream, out, mean, std)
            return
        starts = iter(range(0, n // BLOCK * BLOCK, BLOCK * BLOCKS))
        if n < _SHARED:
            _fill_runs(stream, out, mean, std, starts, stream.lock)
        else:
            fill = partial(_fill_runs, stream, out, mean, std, starts, allocate_lock())
            at_once([fill] * n_threads())


def _fill_few(stream: Twister, out: np.ndarray, mean: float, std: float) -> None:
    """The same for few numbers in float32: from the second such call on, words are drawn ahead."""
    if stream.asked_for_few:
        from tapegrad.core.streams.ahead import fill_few

        fill_few(stream.locked_ahead(), out, mean, std)
    else:
        _fill_runs(stream, out, mean, std, iter([0]), stream.lock)
        stream.asked_for_few = True


def _fill_runs(
    stream: Twister, out: np.ndarray, mean: float, std: float, starts: Iterator[int], turns: Any
) -> None:
    """Fill the runs of blocks from `starts` on, which threads take in turns, with their words."""
    n, dtype = out.size, out.dtype
    n_full = n // BLOCK * BLOCK
    n_unused = n - n_full if dtype.itemsize > 2 else 0  # drawn for what is replaced
    draw: Callable[[int], np.ndarray]
    make: Callable[[np.ndarray, np.ndarray, float, float], None]
    if dtype == np.float64:
        room, precision, draw, make = None, dtype, stream.locked_low53, _double_blocks
    else:
        room = _room(stream, n)
        precision, draw, make = _SINGLE, stream.locked_low24, room.transform
    while True:
        with turns:
            start = next(starts, None)
            if start is None:
                break
            stop = min(start + BLOCK * BLOCKS, n_full)
            size, is_short = stop - start, n > n_full == stop
            words = draw(size + n_unused + BLOCK if is_short else size)
        if is_short:
            words[size : size + BLOCK] = words[size + n_unused :]
            words = words[: size + BLOCK]
        if dtype == precision and not is_short:
            make(words, out[start:stop], mean, std)
        else:
            made = np.empty(words.size, precision)
            make(words, made, mean, std)
            out[start:stop] = made[:size]
            if is_short:
                out[n - BLOCK :] = made[size:]
        if stop == n_full:
            break
    if room is not None:
        stream.rooms.append(room)


def _room(stream: Twister, n: int) -> Any:
    """Room for `n` numbers; the stream keeps it, as fresh memory costs more than the work in it."""
    from tapegrad.core.streams.box_muller import Blocks  # which lays out its constants

    n_blocks = min(n // BLOCK, BLOCKS) + 1  # one more for a last block that is not full
    try:
        room = stream.rooms.pop()
    except IndexError:
        return Blocks(n_blocks)
    return room if room.n >= n_blocks else Blocks(n_blocks)


def _double_blocks(words: np.ndarray, out: np.ndarray, mean: float, std: float) -> None:
    halves = words.reshape(-1, 2, BLOCK // 2).transpose(1, 0, 2) * TO_FRACTION_64
    radius = np.sqrt(-2 * libm(math.log, 1 - halves[0]))
    angle = _TWO_PI * halves[1]
    pairs = np.stack([np.cos(angle), np.sin(angle)])
    pairs *= radius
    out.reshape(-1, 2, BLOCK // 2).transpose(1, 0, 2)[...] = fma64(pairs, std, mean)
