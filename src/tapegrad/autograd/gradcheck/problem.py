"""One function to check: its inputs and results, and its Jacobians of either kind."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapegrad.autograd.gradcheck.analytical import (
    Pulled,
    as_tuple,
    backward_jacobians,
    is_inexact,
    pushed_rows,
    units,
)
from tapegrad.autograd.gradcheck.message import not_reentrant, wrong
from tapegrad.autograd.gradcheck.numerical import difference_along, numerical_jacobian
from tapegrad.core.promote_types import promote_types
from tapegrad.core.tensor_base import TensorBase
from tapegrad.operators import allclose


class Options(NamedTuple):
    """How close Jacobians have to be, and how they are made."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_dtypes: bool
    fast: bool


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
            i for i, x in enumerate(self.inputs) if isinstance(x, TensorBase) and x.requires_grad
        ]

    # --- by differences ----------------------------------------------------------------------

    def _evaluate(self) -> list:
        """The values of all results at the inputs as they are now."""
        found = as_tuple(self.function(*self.inputs))
        return [y._array.copy() if isinstance(y, TensorBase) else y for y in found]

    def numerical(self, which: int, forward: bool) -> list:
        """The Jacobians of all results with respect to input number `which`."""
        x = self.inputs[which]._array
        return numerical_jacobian(self._evaluate, x, self.options.eps, forward)

    def slopes(self, which: int, direction: np.ndarray) -> list:
        """The derivatives of all results along a direction of input number `which`, flat."""
        x = self.inputs[which]._array
        found = difference_along(self._evaluate, x, direction.reshape(x.shape), self.options.eps)
        return [np.reshape(y, -1) for y in found]

    # --- by rules ----------------------------------------------------------------------------

    def rows(self, output: Any) -> list:
        """The Jacobians of one result by reverse mode, for each input; computed twice."""
        pulled, first = backward_jacobians(self.inputs, output)
        _, second = backward_jacobians(self.inputs, output)
        self.check_pulled(pulled, first, second)
        return first

    def columns(self, which: int) -> dict[int, Any]:
        """The Jacobians by forward mode with respect to one input, by the place of the result."""
        x = self.inputs[which]
        rows, right = pushed_rows(self.function, self.inputs, which, units(x))
        self.check_pushed(right)
        return dict(zip(self.inexact_places(), rows, strict=False)) if rows else self._empty(x)

    def _empty(self, x: Any) -> dict[int, Any]:
        return {
            i: np.zeros((x.numel(), self.results[i].numel()), self.results[i]._array.dtype)
            for i in self.inexact_places()
        }

    def inexact_places(self) -> list[int]:
        """Where the results are that can have a tangent."""
        return [i for i, y in enumerate(self.results) if is_inexact(y)]

    def check_pulled(self, pulled: Pulled, first: list, second: list) -> None:
        """Raise unless gradients are like their inputs, and the same the second time."""
        if self.options.check_dtypes and not pulled.right_dtypes:
            raise wrong("Gradient has dtype mismatch", "It has the dtype of its input.")
        if not pulled.right_sizes:
            raise wrong("Analytical gradient has incorrect size", "It has its input's shape.")
        tolerance = self.options.nondet_tol
        for a, b in zip(first, second, strict=True):
            if a.size and np.abs(a - b).max() > tolerance:
                raise not_reentrant(tolerance)

    def check_pushed(self, right: bool) -> None:
        """Raise unless tangents have the dtypes they have to."""
        if self.options.check_dtypes and not right:
            raise wrong(
                "Forward AD gradient has dtype mismatch.",
                "The tangent of a complex result is complex, that of a real one real.",
            )

    # --- comparing ---------------------------------------------------------------------------

    def is_close(self, analytical: Any, numerical: Any, atol: float) -> bool:
        """Whether two Jacobians, or products with them, are near enough; of any dtypes."""
        dtype = promote_types(analytical.dtype, numerical.dtype)
        return allclose(analytical.to(dtype), numerical.to(dtype), self.options.rtol, atol)

    def part_of(self, o: int, k: int, forward: bool) -> str | None:
        """The part of complex numbers that a Jacobian is of, None where it is of real ones."""
        return self.part if (k if forward else o) in self.complex_places else None
