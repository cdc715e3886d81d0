"""Operators under transforms on top of each other, and the same by loops and differences.

The outermost transform is done by hand: a loop in the place of `vmap`, central differences of
fourth order in the place of derivatives. What is below it is a shorter composition, which is an
example of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapegrad as torch
from tapegrad import Tensor
from tapegrad.core.tensor_base import wrap
from tapegrad.dispatch.op import REGISTRY
from tapegrad.func import grad, jvp, vjp, vmap
from tests.samples import samples_of

STEPS = 1e-4, 3e-4  # of differences: as sharp as the two agree
SIZE = 2  # of each batch


class Operator:
    """One sample of an operator as a function of one of its inputs, real to real.

    Complex numbers are pairs; several results are one vector.
    """

    def __init__(self, name: str, number: int, i: int):
        self.op = REGISTRY[name]
        self.sample = samples_of(name)[number]
        self.i = i
        self.members = [samples_of(name, seed)[number].inputs[i] for seed in range(SIZE)]
        first = self.sample.inputs[i]
        if any(m.shape != first.shape for m in self.members):
            self.members = [first] * SIZE
        self.complex = first.dtype.kind == "c"

    def __call__(self, x: Any) -> Any:
        x = torch.complex(x[..., 0], x[..., 1]) if self.complex else x
        inputs = [wrap(a) if isinstance(a, np.ndarray) else a for a in self.sample.inputs]
        inputs[self.i] = x
        out = self.op.call(*inputs, **self.sample.params)
        outs = out if isinstance(out, (tuple, list)) else [out]
        outs = [y for k, y in enumerate(outs) if k not in self.op.constant_outputs]
        parts = [_real(y).reshape(-1) for y in outs if y.dtype.itemsize >= 8 and _is_inexact(y)]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def point(self, n_batches: int) -> Any:
        """Values for the input, with `n_batches` axes of members in front."""
        parts = np.stack([_pairs(m) if self.complex else m for m in self.members])
        if n_batches == 0:
            return wrap(np.array(parts[0]))
        for _ in range(n_batches - 1):
            parts = np.stack([parts, parts[::-1]])
        return wrap(np.array(parts))


def _pairs(x: np.ndarray) -> np.ndarray:
    return np.stack([x.real, x.imag], axis=-1)


def _is_inexact(y: Any) -> bool:
    return isinstance(y, Tensor) and (y.dtype.is_floating_point or y.dtype.is_complex)


def _real(y: Any) -> Any:
    y = y.resolve_conj().resolve_neg()
    return torch.view_as_real(y) if y.dtype.is_complex else y


def cases() -> list[tuple[str, int, int]]:
    """All operators, samples and inputs that there is a derivative of: (name, sample, input)."""
    found = []
    for name in sorted(REGISTRY):
        if REGISTRY[name].kind == "constant":
            continue
        for number, sample in enumerate(samples_of(name)):
            found += [(name, number, i) for i in sample.differentiable() if i not in sample.within]
    return found


# --- transforms, and by hand ---------------------------------------------------------------------


def total(y: Any) -> Any:
    return y.sin().sum()


TRANSFORMS: dict[str, Callable] = {
    "vmap": vmap,
    "grad": lambda g: grad(lambda z: total(g(z))),
    "jvp": lambda g: lambda x: jvp(g, (x,), (x.nan_to_num().cos(),))[1],
    "vjp": lambda g: lambda x: (lambda y, pull: pull(y.cos())[0])(*vjp(g, x)),
}


def slope(g: Callable, x: Any, direction: Any, size: float) -> Any:
    """The derivative of `g` along a direction, by steps of a size."""
    step = size * direction
    near, far = g(x + step) - g(x - step), g(x + 2 * step) - g(x - 2 * step)
    return (8 * near - far) / (12 * size)


class Comparison:
    """What a composition gives at a point, and by hand; of a gradient one random component."""

    def __init__(self, names: list[str], operator: Operator):
        x = operator.point(names.count("vmap"))
        g: Callable = operator
        for name in names[:-1]:
            g = TRANSFORMS[name](g)
        got = TRANSFORMS[names[-1]](g)(x)
        by_hand = self.looped if names[-1] == "vmap" else self.sloped
        self.got, self.want, self.doubt = by_hand(names[-1], g, x, got)
        assert self.got.shape == self.want.shape

    def looped(self, outer: str, g: Callable, x: Any, got: Any) -> tuple:
        want = np.asarray(torch.stack([g(member) for member in x]))
        return np.asarray(got), want, np.zeros_like(want)

    def sloped(self, outer: str, g: Callable, x: Any, got: Any) -> tuple:
        if outer == "jvp":
            direction = x.nan_to_num().cos()
        else:
            assert got.shape == x.shape
            direction = wrap(np.random.default_rng(1).standard_normal(tuple(x.shape)))
            got = (got * direction).sum()
        if outer == "grad":
            weighed = lambda z: total(g(z))  # noqa: E731
        elif outer == "vjp":
            cotangent = g(x).cos()
            weighed = lambda z: (g(z) * cotangent).sum()  # noqa: E731
        else:
            weighed = g
        fine, coarse = (np.asarray(slope(weighed, x, direction, size)) for size in STEPS)
        return np.asarray(got), fine, np.abs(fine - coarse)

    def error(self) -> float:
        """The largest difference by the largest value, where differences are sharp; else 0."""
        sharp = self.doubt < 1e-2 * self.scale()
        same = (self.got == self.want) | (np.isnan(self.got) & np.isnan(self.want))
        found = np.where(same, 0, np.abs(self.got - self.want) - 10 * self.doubt)
        return np.where(sharp, found, 0).max(initial=0.0) / self.scale()

    def scale(self) -> float:
        usual = np.abs(self.want[np.isfinite(self.want)])
        return max(1.0, usual.max(initial=0.0))
