"""Rows in blocks that are the same for any number of threads, and so is what is summed in them."""

from tapegrad.arrays.numpy.blas_threads import share_products
from tapegrad.core.annotations import Any, Callable


def in_row_blocks(rows: int, n: int, block: int, work: Callable[[int, int], Any]) -> list:
    """What `work(i, j)` returns for blocks of about `block` elements of `rows` rows of `n` each.

    A product with a vector adds up a row in an order that may depend on where in its block the row
    is: threads are given whole blocks.
    """
    step = max(1, block // max(n, 1))

    def run(first: int, last: int) -> list:
        return [work(i * step, min((i + 1) * step, rows)) for i in range(first, last)]

    shares = share_products(-(-rows // step), min(step, rows) * n, run)
    return [each for share in shares for each in share]
