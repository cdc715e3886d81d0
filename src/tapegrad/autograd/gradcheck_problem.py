"""One function to check: its inputs and results, and comparing its Jacobians.

Slow mode compares whole Jacobians J. Fast mode compares v^T J u for fixed random u and v, or J u in
forward mode: two evaluations of the function and one derivative, whatever the sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapegrad.autograd.analytical import (
    Pulled,
    as_tuple,
    backward_jacobians,
    is_inexact,
    pushed_rows,
    unit_tangents,
    with_gradient,
)
from tapegrad.autograd.gradcheck_message import mismatch, not_reentrant, slow_story, wrong
from tapegrad.autograd.numerical import difference_along, numerical_jacobian
from tapegrad.generator import Generator
from tapegrad.ops import allclose
from tapegrad.ops.random_make import rand
from tapegrad.tensor import Tensor, wrap


class Options:
    """How close Jacobians have to be, and how they are made."""

    __slots__ = ("atol", "check_dtypes", "eps", "fast", "nondet_tol", "rtol")

    def __init__(
        self,
        eps: float,
        atol: float,
        rtol: float,
        nondet_tol: float,
        check_dtypes: bool,
        fast: bool,
    ):
        self.eps = eps
        self.atol = atol
        self.rtol = rtol
        self.nondet_tol = nondet_tol
        self.check_dtypes = check_dtypes
        self.fast = fast


class Problem:
    """A function at a point: derivatives of its results with respect to its inputs."""

    def __init__(
        self,
        function: Callable,
        inputs: Sequence,
        options: Options,
        part: str | None = None,
        complex_places: Sequence[int] = (),
    ):
        self.function = function
        self.inputs = tuple(inputs)
        self.options = options
        self.part = part  # "real" or "imaginary": what of complex numbers is looked at
        self.complex_places = complex_places  # of results in reverse mode, of inputs in forward
        self.results = as_tuple(function(*self.inputs))
        self.places = [i for i, y in enumerate(self.results) if y.requires_grad]
        self.outputs = [self.results[i] for i in self.places]
        self.moving = [
            i for i, x in enumerate(self.inputs) if isinstance(x, Tensor) and x.requires_grad
        ]

    # --- by differences ----------------------------------------------------------------------

    def _evaluate(self) -> list:
        """The values of all results at the inputs as they are now."""
        found = as_tuple(self.function(*self.inputs))
        return [y._array.copy() if isinstance(y, Tensor) else y for y in found]

    def numerical(self, which: int, forward: bool) -> list:
        """The Jacobians of all results with respect to input number `which`."""
        x = self.inputs[which]._array
        return numerical_jacobian(self._evaluate, x, self.options.eps, forward)

    def slopes(self, which: int, direction: np.ndarray) -> list:
        """The derivatives of all results along a direction of input number `which`, flat."""
        x = self.inputs[which]._array
        found = difference_along(self._evaluate, x, direction.reshape(x.shape), self.options.eps)
        return [np.reshape(y, -1) for y in found]

    # --- results without a gradient ----------------------------------------------------------

    def check_constant(self) -> None:
        """Raise if results without a gradient change with an input."""
        eps = self.options.eps
        for i in self.moving:
            if self.options.fast:
                along = self._slopes(self._directions())[i]
                found = [y for results in along for y in results]
                moved = any(y.size and not np.abs(y).max() < eps for y in found)
            else:
                moved = any(np.any(y != 0) for y in self.numerical(i, False))
            if moved:
                raise wrong(
                    "Numerical gradient for function expected to be zero",
                    "The function detaches a result that depends on its inputs.",
                )

    # --- comparing ---------------------------------------------------------------------------

    def check(self, forward: bool) -> None:
        """Raise unless the Jacobians of the rules are those of differences."""
        if not self.outputs:
            self.check_constant()
        elif self.options.fast:
            self._check_fast(forward)
        else:
            self._check_slow(forward)

    def _check_slow(self, forward: bool) -> None:
        numerical = [self.numerical(i, forward) for i in self.moving]
        if forward:
            for k, i in enumerate(self.moving):
                found = self._columns(i)
                for o, place in enumerate(self.places):
                    self._compare(found[place], numerical[k][place], o, k, forward)
            return
        for o, place in enumerate(self.places):
            for k, found in enumerate(self._rows(self.outputs[o])):
                self._compare(found, numerical[k][place], o, k, forward)

    def _rows(self, output: Any) -> list:
        """The Jacobians of one result by reverse mode, for each input; computed twice."""
        pulled, first = backward_jacobians(self.inputs, output)
        _, second = backward_jacobians(self.inputs, output)
        self._check_pulled(pulled, first, second)
        return first

    def _columns(self, which: int) -> dict[int, Any]:
        """The Jacobians by forward mode with respect to one input, by the place of the result."""
        x = self.inputs[which]
        rows, right = pushed_rows(self.function, self.inputs, which, unit_tangents(x))
        self._check_pushed(right)
        return dict(zip(self._inexact_places(), rows, strict=False)) if rows else self._empty(x)

    def _empty(self, x: Any) -> dict[int, Any]:
        return {
            i: np.zeros((x.numel(), self.results[i].numel()), self.results[i]._array.dtype)
            for i in self._inexact_places()
        }

    def _inexact_places(self) -> list[int]:
        return [i for i, y in enumerate(self.results) if is_inexact(y)]

    def _check_pulled(self, pulled: Pulled, first: list, second: list) -> None:
        if self.options.check_dtypes and not pulled.right_dtypes:
            raise wrong("Gradient has dtype mismatch", "It has the dtype of its input.")
        if not pulled.right_sizes:
            raise wrong("Analytical gradient has incorrect size", "It has its input's shape.")
        tolerance = self.options.nondet_tol
        for a, b in zip(first, second, strict=True):
            if a.size and np.abs(a - b).max() > tolerance:
                raise not_reentrant(tolerance)

    def _check_pushed(self, right: bool) -> None:
        if self.options.check_dtypes and not right:
            raise wrong(
                "Forward AD gradient has dtype mismatch.", "A tangent has the dtype of its value."
            )

    def _compare(self, analytical: Any, numerical: Any, o: int, k: int, forward: bool) -> None:
        a, n = wrap(np.asarray(analytical)), wrap(np.asarray(numerical))
        if not self._close(a, n, self.options.atol):
            raise mismatch(a, n, o, k, self._part(o, k, forward), forward)

    def _close(self, a: Any, n: Any, atol: float) -> bool:
        return close(a, n, self.options.rtol, atol)

    def _part(self, o: int, k: int, forward: bool) -> str | None:
        """The part of complex numbers that a Jacobian is of, None where it is of real ones."""
        return self.part if (k if forward else o) in self.complex_places else None

    # --- fast mode ---------------------------------------------------------------------------

    def _check_fast(self, forward: bool) -> None:
        directions = self._directions()
        slopes = self._slopes(directions)
        if forward:
            for k, i in enumerate(self.moving):
                (u,) = directions[i]
                tangent = wrap(u.reshape(self.inputs[i].shape))
                rows, right = pushed_rows(self.function, self.inputs, i, iter([tangent]))
                self._check_pushed(right)
                found = dict(zip(self._inexact_places(), rows, strict=False))
                for o, place in enumerate(self.places):
                    numerical = slopes[i][0][place].astype(found[place].dtype, copy=False)
                    self._compare_fast(found[place][0], numerical, o, k, u.sum(), forward)
            return
        weights = self._weights()
        for o, (place, v) in enumerate(zip(self.places, weights, strict=True)):
            for k, (i, row) in enumerate(
                zip(self.moving, self._pulled(self.outputs[o], v), strict=True)
            ):
                along = [np.dot(v, each[place]) for each in slopes[i]]
                size = directions[i][0].sum() * v.sum()
                self._compare_fast(_joined(row, directions[i]), _sum(along), o, k, size, forward)

    def _directions(self) -> dict[int, list]:
        """For each input a random vector u of length 1, for a complex one two; then the v's."""
        generator = Generator()
        found = {}
        for i in self.moving:
            x = self.inputs[i]
            n = 2 if x.dtype.is_complex else 1
            found[i] = [_unit_vector(x, generator) for _ in range(n)]
        self._generator = generator
        return found

    def _slopes(self, directions: dict[int, list]) -> dict[int, list]:
        """The derivatives along the real direction of each input, and the imaginary one."""
        return {
            i: [self.slopes(i, unit * u) for unit, u in zip((1, 1j), both, strict=False)]
            for i, both in directions.items()
        }

    def _weights(self) -> list:
        return [_unit_vector(y, self._generator) for y in self.outputs]

    def _pulled(self, output: Any, v: np.ndarray) -> list:
        """The gradient of each input for the cotangent `v` of one result; computed twice."""
        inputs = with_gradient(self.inputs)
        cotangent = wrap(v.reshape(output.shape))
        first, second = (Pulled(inputs, output, iter([cotangent])) for _ in range(2))
        rows = [each[0] for each in first.rows]
        self._check_pulled(first, rows, [each[0] for each in second.rows])
        return rows

    def _compare_fast(
        self, analytical: Any, numerical: Any, o: int, k: int, size: float, forward: bool
    ) -> None:
        """Compare v^T J u: `size` is what an error of 1 in each element of J makes of it."""
        a, n = wrap(np.asarray(analytical)), wrap(np.asarray(numerical))
        if self._close(a, n, self.options.atol * float(size)):
            return
        i, place = self.moving[k], self.places[o]
        whole = wrap(self.numerical(i, forward)[place])
        if forward:
            exact = wrap(self._columns(i)[place])
        else:
            exact = wrap(backward_jacobians(self.inputs, self.outputs[o])[1][k])
        story = slow_story(whole, exact, self._close(exact, whole, self.options.atol))
        raise mismatch(a, n, o, k, self._part(o, k, forward), forward, story)


def close(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """`allclose` of tensors of any dtypes."""
    from tapegrad.promotion import promote_types

    dtype = promote_types(a.dtype, b.dtype)
    return allclose(a.to(dtype), b.to(dtype), rtol, atol)


def _unit_vector(x: Any, generator: Generator) -> np.ndarray:
    """A random vector of length 1 with as many elements as `x`, of its dtype or the real one."""
    vector = rand(x.numel(), generator=generator).to(x.dtype.to_real())
    return (vector / vector.norm())._array


def _sum(along: list) -> Any:
    """The derivative along the real direction, and i times that along the imaginary one."""
    return along[0] if len(along) == 1 else along[0] + 1j * along[1]


def _joined(row: np.ndarray, directions: list) -> Any:
    """The same of a gradient."""
    if len(directions) == 1:
        return np.dot(row, directions[0])
    return np.dot(row.real, directions[0]) + 1j * np.dot(row.imag, directions[1])
