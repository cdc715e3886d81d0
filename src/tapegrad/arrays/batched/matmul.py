"""Products of batched matrices and vectors."""

from math import prod

import numpy as np

from tapegrad.arrays.batched.array import Batched, closed, opened, widened
from tapegrad.arrays.batched.below import for_batch, plain, values_of
from tapegrad.arrays.batched.unit_vectors import is_plain, rows_scaled
from tapegrad.arrays.kernel import batching_rule
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.core.annotations import Any, Array, LevelLike, Sequence


@batching_rule
def matmul(x: Any, y: Any, /) -> Any:
    """The product of each sample; what is not mapped takes part in one product with all."""
    found = _of_units(x, y)
    if found is not None:
        return found
    level, (a, b), (x_mapped, y_mapped) = opened((x, y))
    if level is None:
        return plain("matmul")(x, y)
    m, n = len(x.shape), len(y.shape)
    both = type(a) is Batched or type(b) is Batched
    product = namespace_of((a, b)).matmul if both else plain("matmul")
    if not (x_mapped or y_mapped):
        return closed(level, product(a, b), False)
    if x_mapped and not y_mapped and n <= 2:
        if m <= 1 or n == 1:
            return closed(level, product(a, b), True)
        rows = a.reshape((prod(a.shape[:-1]), a.shape[-1]))  # all samples are rows of one matrix
        return closed(level, product(rows, b).reshape((*a.shape[:-1], b.shape[-1])), True)
    if y_mapped and not x_mapped and m <= 2 and n == 1:
        return closed(level, product(b, a.mT if m == 2 else a), True)
    if y_mapped and not x_mapped and m == 1:
        return closed(level, product(a, b), True)
    # a vector as a matrix of one row, or one column, which is taken off again
    if m == 1:
        a = a.reshape((*a.shape[:-1], 1, a.shape[-1]))
    if n == 1:
        b = b.reshape((*b.shape, 1))
    ndim = max(m, n, 2)
    a = widened(a, ndim) if x_mapped else a
    b = widened(b, ndim) if y_mapped else b
    if a.shape[-1] == b.shape[-2] == 1:  # BLAS, called for each member, takes three times longer
        both = is_plain(a) and is_plain(b) and a.ndim == b.ndim == 3
        out = np.einsum("bij,bjk->bik", a, b) if both else a * b
    else:
        out = product(a, b)
    if m == 1 and n == 1:
        out = out.reshape(out.shape[:-2])
    elif m == 1:
        out = out.reshape((*out.shape[:-2], out.shape[-1]))
    elif n == 1:
        out = out.reshape(out.shape[:-1])
    return closed(level, out, True)


def _of_units(x: Array, y: Array) -> Any:
    """The product of unit vectors and a matrix that is the same for all; None for others."""
    if type(y) is Batched and y.factors is not None and len(x.shape) == 2:
        return rows_scaled(y, x.mT)
    if type(x) is Batched and x.factors is not None and len(x.shape) == 1:
        return rows_scaled(x, y)
    return None


@batching_rule
def vecdot(x: Array, y: Array, /, *, axis: int = -1) -> Any:
    level, (a, b), (x_mapped, y_mapped) = opened((x, y))
    if level is None:
        return plain("vecdot")(x, y, axis=axis)
    ndim = max(len(x.shape), len(y.shape))
    axis = axis - ndim if axis >= 0 else axis
    if x_mapped:
        a = widened(a, ndim)
    if y_mapped:
        b = widened(b, ndim)
    if x_mapped != y_mapped:
        a, b = values_of(level, x if x_mapped else a, y if y_mapped else b)
    return closed(level, namespace_of((a, b)).vecdot(a, b, axis=axis), x_mapped or y_mapped)


def _opened(level: LevelLike, inputs: Sequence) -> list:
    q, k, v, *masks = inputs
    values = values_of(level, q, k, v)
    for mask in masks:
        is_own = type(mask) is Batched and mask.level is level and mask.mapped
        value = opened((mask,))[1][0] if not is_own else widened(mask.value, len(q.shape))
        if type(mask) is Batched and mask.level is not level:
            value = mask
        values.append(value)
    return values


@batching_rule
@for_batch
def attend(level: LevelLike, inputs: Sequence, scale: float, causal: bool) -> Any:
    values = _opened(level, inputs)
    return closed(level, namespace_of(values).attend(values, scale, causal), True)


@batching_rule
@for_batch
def attend_back(
    level: LevelLike, g: Array, inputs: Sequence, y: Array, total: Array, scale: float, causal: bool
) -> Any:
    values = _opened(level, inputs)
    g, y, total = values_of(level, g, y, total)
    kernel = namespace_of((g, *values)).attend_back
    return closed(level, kernel(g, values, y, total, scale, causal), True)
