"""Running a chain: block after block, large ones shared out over threads."""

from functools import partial

import numpy as np

from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.threads import at_once, n_threads

BLOCK = 1 << 13  # elements: the blocks of a chain fit the second-level cache of one core together
_SHARED = 1 << 19  # elements: below it threads cost more than they bring


def in_blocks(
    part: Callable, size: int, whole: Sequence[Any], single: Sequence[Any], spares: Sequence[Any]
) -> None:
    """Call `part` for blocks that cover `size` elements.

    It is given the block of each array in `whole`, `single` as it is, and a spare block of each
    dtype in `spares`.
    """
    n = n_threads() if size > _SHARED else 1
    run = partial(_run, part, whole, single, spares)
    if n == 1:
        run(0, size)
        return
    step = max(size // n // BLOCK, 1) * BLOCK
    at_once([partial(run, i, min(i + step, size)) for i in range(0, size, step)])


def _run(
    part: Callable,
    whole: Sequence[Any],
    single: Sequence[Any],
    spares: Sequence[Any],
    first: int,
    last: int,
) -> None:
    rest = [*single, *[np.empty(BLOCK, dtype) for dtype in spares]]
    end = first + (last - first) // BLOCK * BLOCK
    for i in range(first, end, BLOCK):
        j = i + BLOCK
        part(*[x[i:j] for x in whole], *rest)
    if end < last:
        rest = [*single, *[x[: last - end] for x in rest[len(single) :]]]
        part(*[x[end:last] for x in whole], *rest)
