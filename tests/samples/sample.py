"""Samples: for each operator, arguments that bite (0-d, empty, broadcast, non-contiguous).

A row is a function under the operator's registered name that gets a `Make` and returns samples:

    @row
    def tanh(make):
        return unary(make)

Arrays are float64, so that finite differences are sharp; `Sample.fixed` numbers inputs that are not
differentiated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ROWS: dict[str, Callable[[Make], list[Sample]]] = {}


class Sample:
    """Positional inputs (NumPy arrays, numbers, None) and keywords of one call of an operator."""

    __slots__ = ("fixed", "inputs", "params", "reference", "within")

    def __init__(
        self,
        *inputs: Any,
        reference: Any = None,
        fixed: tuple[int, ...] = (),
        within: dict[int, Callable[[np.ndarray], np.ndarray]] | None = None,
        **params: Any,
    ):
        self.inputs = inputs
        self.fixed = fixed  # numbers of inputs that are not differentiated
        self.within = within or {}  # for inputs of a kind (symmetric, ...): projections onto it
        self.params = params
        self.reference = reference  # the expected output, or a function of the inputs

    def __repr__(self) -> str:
        parts = [
            f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else repr(x)
            for x in self.inputs
        ]
        parts += [f"{k}={v!r}" for k, v in self.params.items()]
        return f"({', '.join(parts)})"

    def differentiable(self) -> list[int]:
        """The numbers of the inputs that are floating arrays, and not fixed."""
        return [
            i
            for i, x in enumerate(self.inputs)
            if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and i not in self.fixed
        ]

    def projected(self, i: int, x: Any) -> Any:
        """The part of a change of input `i`, or of its gradient, that keeps it of its kind."""
        return self.within[i](x) if i in self.within and x is not None else x


def hermitian(x: np.ndarray) -> np.ndarray:
    """The Hermitian part of matrices, for `within`."""
    return (x + x.mT.conj()) / 2


class Make:
    """Arrays of random numbers for samples, the same in each run.

    >>> make = Make(0)
    >>> make(2, 3).shape, bool(make.positive(4).min() > 0)
    ((2, 3), True)
    """

    def __init__(self, seed: int = 0):
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
        """Uniform numbers between low and high."""
        return np.asarray(self.rng.uniform(low, high, shape))

    def positive(self, *shape: int, low: float = 0.2, high: float = 3.0) -> np.ndarray:
        """Numbers well above 0."""
        return self(*shape, low=low, high=high)

    def away(self, *shape: int, margin: float = 0.1, high: float = 2.0) -> np.ndarray:
        """Numbers of either sign, at least `margin` away from 0."""
        sign = self.rng.integers(0, 2, shape) * 2.0 - 1.0
        return np.asarray(sign * self.rng.uniform(margin, high, shape))

    def distinct(self, *shape: int) -> np.ndarray:
        """Numbers that differ by at least 0.1 from each other: no ties, no near ties."""
        n = int(np.prod(shape))
        return np.asarray((self.rng.permutation(n) - n / 2 + 0.3) * 0.1).reshape(shape)

    def integers(self, *shape: int, low: int = 0, high: int = 5) -> np.ndarray:
        """int64 numbers from low up to but without high."""
        return np.asarray(self.rng.integers(low, high, shape))

    def mask(self, *shape: int) -> np.ndarray:
        """True and False."""
        return np.asarray(self.rng.integers(0, 2, shape).astype(bool))

    def complex(self, *shape: int) -> np.ndarray:
        """complex128 numbers."""
        return np.asarray(self(*shape) + 1j * self(*shape))

    def invertible(self, *shape: int) -> np.ndarray:
        """Square matrices far from singular ones."""
        return self(*shape) + 3.0 * np.eye(shape[-1])

    def definite(self, *shape: int) -> np.ndarray:
        """Symmetric positive definite matrices."""
        x = self(*shape)
        return x @ x.mT + np.eye(shape[-1])


def row(function: Callable[[Make], list[Sample]]) -> Callable[[Make], list[Sample]]:
    """Register the samples of the operator of the same name (a trailing underscore is dropped)."""
    name = function.__name__.rstrip("_")
    if name in ROWS:
        raise ValueError(f"the samples of {name} are declared twice")
    ROWS[name] = function
    return function


def samples_of(name: str, seed: int = 0) -> list[Sample]:
    """The samples of a registered operator."""
    return ROWS[name](Make(seed))


# --- the shapes of elementwise operators ---


def unary(make: Make, array: Callable[..., np.ndarray] | None = None, **params: Any) -> list:
    """One tensor: 0-d, empty, contiguous and not."""
    array = array or make
    return [
        Sample(array(), **params),
        Sample(array(3), **params),
        Sample(array(0, 2), **params),
        Sample(array(2, 3).T, **params),
        Sample(array(2, 4)[:, ::2], **params),
    ]


def binary(
    make: Make,
    first: Callable[..., np.ndarray] | None = None,
    second: Callable[..., np.ndarray] | None = None,
    **params: Any,
) -> list:
    """Two tensors: equal shapes, broadcast either way, 0-d, empty, not contiguous."""
    a, b = first or make, second or first or make
    return [
        Sample(a(), b(), **params),
        Sample(a(2, 3), b(2, 3), **params),
        Sample(a(2, 1), b(3), **params),
        Sample(a(3), b(2, 1, 3), **params),
        Sample(a(), b(2), **params),
        Sample(a(0, 3), b(1, 3), **params),
        Sample(a(3, 2).T, b(2, 3), **params),
    ]
