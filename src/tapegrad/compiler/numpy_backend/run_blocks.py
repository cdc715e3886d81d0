"""Running a chain: block after block, large ones shared out over threads."""

from functools import partial

import numpy as np

from tapegrad.core.annotations import Any, Callable, Sequence
from tapegrad.core.threads import at_once, n_threads

BLOCK = 1 << 15  # elements: with fewer the calls cost more than the cache brings
_SHARED = 1 << 19  # elements: below it threads cost more than they bring


def in_blocks(
    part: Callable,
    size: int,
    whole: Sequence[Any],
    single: Sequence[Any],
    spares: Sequence[Any],
    rows: Sequence[Any] = (),
    row: int = 1,
) -> None:
    """Call `part` for blocks that cover `size` elements.

    It is given the block of each array in `whole`; of those in `rows`, which have an element for
    each `row` of the others; `single` as it is; and a spare block of each dtype in `spares`.
    """
    block = max(BLOCK // row, 1) * row
    n = n_threads() if size > _SHARED else 1
    run = partial(_run, part, block, whole, single, spares, rows, row)
    if n == 1:
        run(0, size)
        return
    step = max(size // n // block, 1) * block
    at_once([partial(run, i, min(i + step, size)) for i in range(0, size, step)])


def _run(
    part: Callable,
    block: int,
    whole: Sequence[Any],
    single: Sequence[Any],
    spares: Sequence[Any],
    rows: Sequence[Any],
    row: int,
    first: int,
    last: int,
) -> None:
    rest = [*single, *[np.empty(block, dtype) for dtype in spares]]
    for i in range(first, last, block):
        j = i + block
        if j > last:
            j = last
            rest = [*single, *[x[: j - i] for x in rest[len(single) :]]]
        part(*[x[i:j] for x in whole], *[x[i // row : j // row] for x in rows], *rest)
