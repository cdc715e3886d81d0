"""NumPy as it is where an index has 32 bits, as far as its functions can be replaced.

What finds places gives int32, and what takes places refuses int64, as NumPy does there. The
methods of arrays, and integers that are int32 without a dtype, stay as they are here.
"""

import functools

import numpy as np

FIND = (
    "argmax argmin argpartition argsort argwhere flatnonzero lexsort nonzero searchsorted".split()
)
TAKE = {"bincount": 0, "repeat": 1, "take": 1}
"""The functions that take places, and which argument these are."""


def _narrowed(made):
    if isinstance(made, tuple):
        return tuple([each.astype(np.int32) for each in made])
    return made.astype(np.int32)


def _finding(function):
    @functools.wraps(function)
    def find(*args, **options):
        return _narrowed(function(*args, **options))

    return find


def _taking(function, place):
    @functools.wraps(function)
    def take(*args, **options):
        kind = getattr(args[place], "dtype", None)
        if kind is not None and not np.can_cast(kind, np.int32):
            raise TypeError(
                f"Cannot cast array data from dtype('{kind}') to dtype('int32') "
                "according to the rule 'safe'"
            )
        made = function(*args, **options)
        counts = function.__name__ == "bincount" and made.dtype == np.int64
        return made.astype(np.int32) if counts else made

    return take


def _unique(function):
    @functools.wraps(function)
    def unique(x, *args, **options):
        made = function(x, *args, **options)
        return (made[0], *_narrowed(made[1:])) if isinstance(made, tuple) else made

    return unique


def replace():
    """Narrow NumPy in this process, before anything imports tapegrad."""
    for name in FIND:
        setattr(np, name, _finding(getattr(np, name)))
    for name, place in TAKE.items():
        setattr(np, name, _taking(getattr(np, name), place))
    np.unique = _unique(np.unique)
    np.intp = np.int32
