"""Jacobians by the rules of operators: row by row in reverse mode, column by column in forward."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tapegrad.autograd import forward_ad
from tapegrad.autograd.backward_grad import grad
from tapegrad.core.annotations import Any, Array
from tapegrad.core.tensor_base import TensorBase, wrap


def as_tuple(x: object) -> tuple:
    """What a function was given or gave, as a tuple."""
    if isinstance(x, tuple):
        return x
    return tuple(x) if isinstance(x, list) else (x,)


def is_inexact(x: object) -> bool:
    """Whether `x` is a tensor of real or complex numbers with fractions."""
    return isinstance(x, TensorBase) and (x.dtype.is_floating_point or x.dtype.is_complex)


def with_gradient(values: Sequence) -> list:
    """The tensors among inputs that require grad."""
    return [x for x in values if isinstance(x, TensorBase) and x.requires_grad]


# --- reverse mode ----------------------------------------------------------------------------


class Pulled:
    """Gradients of the inputs for some cotangents of one output: a Jacobian, or a part of it."""

    __slots__ = ("right_dtypes", "right_sizes", "rows")

    def __init__(self, inputs: list, output: Any, cotangents: Iterator):
        self.rows: list[list] = [[] for _ in inputs]
        self.right_dtypes = self.right_sizes = True
        for g in cotangents:
            found = grad(output, inputs, g, retain_graph=True, allow_unused=True)
            for x, rows, pulled in zip(inputs, self.rows, found, strict=True):
                rows.append(self._row(x, pulled))

    def _row(self, x: Any, pulled: Any) -> np.ndarray:
        if pulled is None:
            return np.zeros(x.numel(), x._array.dtype)
        self.right_dtypes = self.right_dtypes and pulled.dtype is x.dtype
        if pulled.shape != x.shape:
            self.right_sizes = False
            return np.zeros(x.numel(), x._array.dtype)
        return np.reshape(pulled._array, -1).copy()

    def jacobians(self) -> list:
        """For each input (elements of the input, cotangents)."""
        return [np.stack(rows, axis=1) for rows in self.rows]


def units(x: Any) -> Iterator:
    """(Co)tangents of `x` that are 1 at one element and 0 elsewhere, one after the other."""
    for i in range(x.numel()):
        unit = np.zeros(x.numel(), x._array.dtype)
        unit[i] = 1
        yield wrap(unit.reshape(x.shape))


def backward_jacobians(inputs: Sequence, output: Any) -> tuple[Pulled, list]:
    """The Jacobian of one output with respect to each input that requires grad."""
    differentiable = with_gradient(inputs)
    if not output.numel():
        empty = [np.zeros((x.numel(), 0), x._array.dtype) for x in differentiable]
        return Pulled(differentiable, output, iter(())), empty
    pulled = Pulled(differentiable, output, units(output))
    return pulled, pulled.jacobians()


# --- forward mode ----------------------------------------------------------------------------


def pushed(function: Callable, inputs: Sequence, which: int, tangent: Array) -> list:
    """(value, its tangent or None) of each result, where input number `which` moves."""
    with forward_ad.dual_level():
        duals = []
        for i, x in enumerate(inputs):
            if isinstance(x, TensorBase) and x.requires_grad:
                t = tangent if i == which else wrap(np.zeros(x.shape, x._array.dtype))
                x = forward_ad.make_dual(x.detach(), t)
            duals.append(x)
        found = [forward_ad.unpack_dual(y) for y in as_tuple(function(*duals)) if is_inexact(y)]
        return [(each.primal, each.tangent) for each in found]


def pushed_rows(
    function: Callable, inputs: Sequence, which: int, tangents: Iterator
) -> tuple[list, bool]:
    """For each result its tangents, flat, one for each of `tangents`; whether dtypes are right.

    They are where a complex result has complex tangents and a real one real ones.
    """
    rows: list[list] = []
    right = True
    for tangent in tangents:
        found = []
        for y, t in pushed(function, inputs, which, tangent):
            right = right and (t is None or t.dtype.is_complex == y.dtype.is_complex)
            flat = np.zeros(y.numel(), y._array.dtype) if t is None else t._array.reshape(-1).copy()
            found.append(flat)
        rows.append(found)
    return [np.stack(each) for each in zip(*rows, strict=True)], right
