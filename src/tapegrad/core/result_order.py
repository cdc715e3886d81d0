"""The order in which the elements of results lie in memory: PyTorch's, where NumPy's is another.

An operator declares one of these rules, `@primitive(order=row_major)`, and a call of it applies
the rule to what the kernel gave. Elementwise operators have `in_operands_order` by themselves. A
rule copies a result that lies otherwise, and costs a question where it lies right.
"""

import itertools
from collections.abc import Callable

import numpy as np

from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.memory_format import (
    axes_by_stride,
    channels_last,
    channels_last_3d,
    order_of,
    permuted,
    preserved,
    span,
)
from tapegrad.core.meta_array import MetaArray, nowhere, nowhere_strided, preserved_nowhere

ARRAYS = (np.ndarray, MetaArray)


def _for_each(rule: Callable) -> Callable:
    """A rule for one result as one for each array of several."""

    def of_all(results: Any, operands: Sequence, params: Any = None) -> Any:
        if type(results) is tuple or type(results) is list:
            return tuple([rule(x, operands) if type(x) in ARRAYS else x for x in results])
        return rule(results, operands) if type(results) in ARRAYS else results

    of_all.__name__ = of_all.__qualname__ = rule.__name__
    of_all.__doc__ = rule.__doc__
    return of_all


def keeping(rule: Callable) -> Callable:
    """A rule that leaves results of row-major operands as they are: calls of those pass it by."""
    rule.keeps_row_major = True  # type: ignore[attr-defined]
    return rule


@keeping
def in_operands_order(result: Any, operands: Sequence, params: Any = None) -> Any:
    """The result of elementwise work, in memory in the order that PyTorch gives it.

    Operands that are row-major give that; those of one shape and the same strides, without holes,
    give theirs; in general the axes are sorted by the strides of the operands, the first one first.
    `operands` may have numbers and None among them, which have no order. What NumPy found is
    copied if it lies otherwise.
    """
    arrays = [x for x in operands if type(x) in ARRAYS]
    if type(result) is tuple:
        return tuple([_ordered(x, arrays) for x in result])
    return _ordered(result, arrays) if type(result) in ARRAYS else result


def _ordered(result: Any, arrays: list) -> Any:
    first = arrays[0]
    if not result.size:
        return result
    if result.shape == first.shape and 0 not in first.strides:  # which decides alone
        if result.strides == first.strides:
            return result
        found = np.empty_like(first, result.dtype)
        if result.strides == found.strides:
            return result
        found[...] = result
        return found
    if len(arrays) > 1 and all([_descends(x.strides) for x in arrays]):
        # row-major, but for axes along which there is one element only
        return result if result.flags.c_contiguous else result.copy(order="C")
    order = axes_by_stride(*arrays)
    return laid_out(result, order) if len(order) == result.ndim else result


def _descends(strides: tuple[int, ...]) -> bool:
    """Whether each axis along which there are steps has shorter ones than those before it."""
    steps = [step for step in strides if step]
    return all([a > b for a, b in itertools.pairwise(steps)])


def laid_out(result: Any, order: tuple[int, ...]) -> Any:
    """The result with its axes in memory in `order`, from the outermost to the innermost."""
    if result.transpose(order).flags.c_contiguous:
        return result
    if type(result) is MetaArray:
        return nowhere(result.shape, result.dtype, order)
    found = permuted(result.shape, result.dtype, order)
    found[...] = result
    return found


@_for_each
def row_major(result: Any, operands: Sequence) -> Any:
    """The last axis innermost, whatever the operands are."""
    return result if result.flags.c_contiguous else result.copy(order="C")


@keeping
def as_computed(results: Any, operands: Sequence, params: Any = None) -> Any:
    """In the order that the kernel chose."""
    return results


def lying_as_first(result: Any, operands: Sequence) -> Any:
    """As a copy of the first operand lies, of which the result has the shape."""
    first = operands[0]
    if result.strides == first.strides and result.itemsize == first.itemsize:
        return result
    if first.flags.c_contiguous and result.flags.c_contiguous:
        return result
    if type(result) is MetaArray:
        return preserved_nowhere(first, result.dtype)
    found = preserved(first, result.dtype)
    found[...] = result
    return found


as_first = keeping(_for_each(lying_as_first))


@keeping
@_for_each
def strides_of_first(result: Any, operands: Sequence) -> Any:
    """With the very strides of the first operand, holes and all, if no places are shared."""
    first = operands[0]
    if result.strides == first.strides or (0 in first.strides and not result.flags.c_contiguous):
        return as_first(result, operands)
    if 0 in first.strides or result.dtype != first.dtype or not result.size:
        return result
    if type(result) is MetaArray:
        return nowhere_strided(first.shape, first.dtype, first.strides)
    steps = tuple([step // first.itemsize for step in first.strides])
    found = np.ndarray(first.shape, first.dtype, np.empty(span(first.shape, steps), first.dtype))
    found = np.lib.stride_tricks.as_strided(found, first.shape, first.strides)
    found[...] = result
    return found


@keeping
@_for_each
def channels_as_first(result: Any, operands: Sequence) -> Any:
    """The channels innermost if they are so in the first operand, else row-major."""
    first = operands[0]
    n = result.ndim
    if first.flags.c_contiguous or first.ndim != n or not lies_channels_last(first):
        return result if result.flags.c_contiguous else result.copy(order="C")
    return laid_out(result, order_of(channels_last if n == 4 else channels_last_3d))


@keeping
@_for_each
def channels_as_all(result: Any, operands: Sequence) -> Any:
    """The channels innermost if they are so in all operands, else row-major."""
    arrays = [x for x in operands if type(x) in ARRAYS]
    if result.ndim < 4 or not arrays or any(not lies_channels_last(x) for x in arrays):
        return result if result.flags.c_contiguous else result.copy(order="C")
    return laid_out(result, order_of(channels_last if result.ndim == 4 else channels_last_3d))


def lies_channels_last(x: np.ndarray) -> bool:
    """Whether images (N, C, H, W) or volumes count as ones with the channels innermost."""
    if x.ndim not in (4, 5):
        return False
    least = 0
    if x.strides[1] == 0:
        return False
    for axis in (1, *range(x.ndim - 1, 1, -1), 0):
        if x.shape[axis] == 1 and x.strides[axis] == 0:
            continue  # an axis that NumPy inserted
        if x.shape[axis] == 0 or x.strides[axis] < least:
            return False
        if axis == 0 and least == x.strides[1]:
            return False  # (N, 1, 1, 1): as good as row-major
        least = x.strides[axis] * max(x.shape[axis], 1)
    return True


def column_major(*which: int) -> Callable:
    """The rule of results of LAPACK: matrices column by column, one after the other.

    `which` are the numbers of the results that are matrices; the only result without it.
    """

    def rule(results: Any, operands: Sequence, params: Any = None) -> Any:
        if type(results) is tuple:
            chosen = which or (0,)
            return tuple(
                [
                    column_by_column(x) if i in chosen else row_major(x, operands)
                    for i, x in enumerate(results)
                ]
            )
        return column_by_column(results)

    return rule


def column_by_column(x: Any) -> Any:
    """Matrices as LAPACK lays them: column by column, one after the other."""
    if type(x) not in ARRAYS or x.ndim < 2 or x.mT.flags.c_contiguous:
        return x
    return x.mT.copy(order="C").mT
