"""Sums of all elements at the end of a chain: each block leaves the sums of its rows.

The namespace adds up large arrays row by row, then the sums of the rows. So does a chain, and the
array itself need not be there.
"""

from types import SimpleNamespace

import numpy as np

from tapegrad.arrays.numpy.namespace import _LARGE as LARGE
from tapegrad.arrays.numpy.sum_prod import ROUND, ROW, SHARED
from tapegrad.arrays.numpy.sum_prod import _flat as sum_of_vector
from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.numpy_backend.block import Block
from tapegrad.compiler.numpy_backend.form import Form
from tapegrad.compiler.numpy_backend.geometry import is_row_major, size_of
from tapegrad.core.annotations import Any, Array


def total_of_rows(sums: Array, size: int) -> Any:
    """The sum of `size` elements, from the sums of their rows."""
    return np.asarray(sum_of_vector(sums) if size > SHARED else np.add.reduce(sums))


def mean_of_rows(sums: Array, size: int) -> Any:
    """The mean of `size` elements, from the sums of their rows."""
    return total_of_rows(sums, size) / size


_FINISH = {"xp.sum": total_of_rows, "xp.mean": mean_of_rows}


def row_of(size: int) -> int:
    """How many elements a row of an array has."""
    return ROW if size % ROUND else ROUND


def sums_rows(each: Instruction, size: int) -> bool:
    """Whether an instruction adds up all of `size` elements by rows."""
    kwargs = each.kwargs
    if each.text not in _FINISH or len(each.args) != 1 or set(kwargs) - {"axis", "keepdims"}:
        return False
    (x,) = each.args
    if not isinstance(x, Value) or size_of(x) != size or size < LARGE or size % row_of(size):
        return False
    everything = kwargs.get("axis") is None or each.kwargs["axis"] == tuple(range(len(x.shape)))
    if not everything or kwargs.get("keepdims", False) or each.result.dtype != x.dtype:
        return False
    return is_row_major(x) and x.dtype in (np.float32, np.float64)


def parts_of(block: Block, each: Instruction) -> tuple[Instruction, Form, Instruction]:
    """The part of a sum that a chain does, how it is written, and what is left for afterwards."""
    (x,) = each.args
    size = size_of(x)
    row = row_of(size)
    like = SimpleNamespace(shape=(size // row,), strides=(x.dtype.itemsize,), dtype=x.dtype)
    rows: Any = Value(block.new_number(), like)
    inside = Instruction("rows", (x,), {}, rows, each.line)
    line = f'{{einsum}}("ij->i", {{0}}.reshape(-1, {row}), out={{out}})'
    function = _FINISH[each.text]
    text = f"xp.{function.__name__}"
    block.functions[text] = function
    after = Instruction(text, (rows, size), {}, each.result, each.line)
    return inside, Form(line, (x,), {"einsum": np.einsum}), after
