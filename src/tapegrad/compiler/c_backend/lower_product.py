"""Products of matrices."""

import numpy as np

from tapegrad.arrays.traced.program import Instruction
from tapegrad.compiler.c_backend.ir import Access, Literal, Product, Reduction, Sizes
from tapegrad.compiler.c_backend.lowering import Lowering
from tapegrad.core.annotations import Any

_TEXTS = ("xp.matmul", "np.matmul", "np.dot", "xp.vecdot", "np.vecdot")


def lower_product(lowering: Lowering, instruction: Instruction) -> bool:
    """`xp.matmul`, `np.matmul`, `np.dot` of at most two axes, and `xp.vecdot` of vectors."""
    text, args, result = instruction.text, instruction.args, instruction.result
    if text not in _TEXTS or instruction.kwargs or len(args) != 2 or not lowering.is_array(result):
        return False
    if not all(lowering.is_array(x) for x in args):
        return False
    x, y = (lowering.place(each) for each in args)
    if x.dtype != y.dtype or x.dtype.kind != "f" or x.dtype != result.dtype:
        return False
    if min(len(x.shape), len(y.shape)) < 1:
        return False
    if text in ("np.dot", "xp.vecdot", "np.vecdot") and max(len(x.shape), len(y.shape)) > (
        2 if text == "np.dot" else 1
    ):
        return False
    out = lowering.fresh(result)
    if 0 in x.shape or 0 in y.shape:
        lowering.copy(Literal(0, weak=True), out, instruction.line)
        return True
    if len(x.shape) == len(y.shape) == 1:
        return _lower_inner(lowering, x, y, out, instruction.line)
    seen = out
    if len(x.shape) == 1:
        x, seen = _with_axis(x, -1), _with_axis(seen, len(seen.shape) - 1)
    if len(y.shape) == 1:
        y, seen = _with_axis(y, 1), _with_axis(seen, len(seen.shape))
    batch = seen.shape[:-2]
    x = x.broadcast((*batch, *x.shape[-2:]))
    y = y.broadcast((*batch, *y.shape[-2:]))
    x, y = (matrix(lowering, each, instruction.line) for each in (x, y))
    if order_of(seen) is None:
        between = lowering.temporary(seen.shape, seen.dtype)
        lowering.add(Product(x, y, between, instruction.line))
        lowering.copy(between, seen, instruction.line)
    else:
        lowering.add(Product(x, y, seen, instruction.line))
    return True


def _lower_inner(lowering: Lowering, x: Access, y: Access, out: Access, line: Any) -> bool:
    between = lowering.temporary(x.shape, x.dtype)
    dtype = x.dtype
    lowering.add_pointwise("{0} * {1}", [x, y], [dtype, dtype], dtype, between, np.multiply, line)
    over = Access(out.buffer, out.offset, x.shape, (0,), dtype)
    lowering.add(Reduction("sum", between, (0,), over, line))
    return True


def _with_axis(x: Access, at: int) -> Access:
    """With one more axis of one element; at -1, before all."""
    at = 0 if at < 0 else at
    shape = (*x.shape[:at], 1, *x.shape[at:])
    strides = (*x.strides[:at], 0, *x.strides[at:])
    return Access(x.buffer, x.offset, shape, strides, x.dtype)


def matrix(lowering: Lowering, x: Access, line: Any) -> Access:
    """Itself where BLAS can read it, else a copy."""
    if order_of(x) is not None:
        return x
    kept = [i for i in range(len(x.shape) - 2) if x.strides[i] == 0]
    shape: Sizes = tuple(1 if i in kept else n for i, n in enumerate(x.shape))
    source = Access(x.buffer, x.offset, shape, x.strides, x.dtype)
    copy = lowering.temporary(shape, x.dtype)
    lowering.copy(source, copy, line)
    return copy.broadcast(x.shape)


def order_of(x: Access) -> tuple[str, int] | None:
    """How BLAS reads a matrix: "rows" or "columns" one after another, and elements from one to
    the next; None where it cannot."""
    (n, m), (row, column) = x.shape[-2:], x.strides[-2:]
    size = x.dtype.itemsize
    if row % size or column % size:
        return None
    if (column == size or m == 1) and (n == 1 or row >= m * size):
        return "rows", max(row // size if n > 1 else m, m, 1)
    if (row == size or n == 1) and (m == 1 or column >= n * size):
        return "columns", max(column // size if m > 1 else n, n, 1)
    return None
