"""Calls of public operators with typical inputs, as text: the same for tapegrad and for PyTorch.

A `Group` has inputs, made anew for each call, and the calls on them. In a call `torch` and `F` are
the library and its `nn.functional`. Inputs given by keyword require grad if they are floating;
those under `constants` do not. The groups are in `tensor_calls.py`, `matrix_calls.py` and
`layer_calls.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Group:
    """Inputs and the calls on them. Inputs are functions of a random generator."""

    def __init__(self, name: str, calls: str, constants: dict | None = None, **inputs: Callable):
        self.name = name
        self.calls = [line.strip() for line in calls.strip().splitlines()]
        self.inputs = inputs
        self.constants = constants or {}

    def arrays(self) -> dict[str, np.ndarray]:
        """The inputs and constants by name, the same at each call."""
        rng = np.random.default_rng(0)
        return {name: make(rng) for name, make in {**self.inputs, **self.constants}.items()}

    def tensors(self, torch: Any) -> dict[str, Any]:
        """The inputs and constants as tensors of a library."""
        tensors = {name: torch.from_numpy(array) for name, array in self.arrays().items()}
        for name in self.inputs:
            if tensors[name].dtype.is_floating_point or tensors[name].dtype.is_complex:
                tensors[name].requires_grad_()
        return tensors


def groups_of(*modules: Any) -> list[Group]:
    """All groups of some modules, in their order."""
    return [x for module in modules for x in vars(module).values() if isinstance(x, Group)]


def uniform(*shape: int, low: float = 0.1, high: float = 0.9) -> Callable:
    """float32 numbers, by default within (0, 1): in the domain of nearly every function."""
    return lambda rng: rng.uniform(low, high, shape).astype(np.float32)


def integers(*shape: int, high: int) -> Callable:
    """int64 numbers from 0 up to but without high."""
    return lambda rng: rng.integers(0, high, shape)


def mask(*shape: int) -> Callable:
    """True and False."""
    return lambda rng: rng.integers(0, 2, shape).astype(bool)


def complex_numbers(*shape: int) -> Callable:
    """complex64 numbers."""
    return lambda rng: (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


def invertible(*shape: int) -> Callable:
    """Square matrices far from singular ones, the determinant of which is not too large."""
    return lambda rng: (rng.uniform(-0.3, 0.3, shape) + 2 * np.eye(shape[-1])).astype(np.float32)


def definite(*shape: int) -> Callable:
    """Symmetric positive definite matrices."""

    def make(rng: Any) -> np.ndarray:
        x = rng.uniform(-1, 1, shape)
        return (x @ x.mT + np.eye(shape[-1])).astype(np.float32)

    return make
