"""What flows through the edges of a graph in a backward pass, in a few numbers each."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.autograd.describe import array_of
from tapegrad.inspect.stepping import Stepper

BINS = 24
FEW = 9
MOST = 20_000  # elements that a histogram counts, evenly spread over a larger gradient
VANISHING = 1e-5  # of the norm of what came in at the roots
EXPLODING = 1e5


class Flow:
    """A gradient in a few numbers: norm, range, histogram, what is not finite.

    `values` are the numbers themselves, nested as they are, where they are few; else None.
    """

    __slots__ = ("bins", "high", "low", "n", "n_inf", "n_nan", "n_zero", "norm", "shape", "values")

    def __init__(self, g: Any):
        array = np.asarray(array_of(g))
        self.shape = tuple(array.shape)
        is_complex = array.dtype.kind == "c"
        self.values = array.tolist() if array.size <= FEW and not is_complex else None
        values = (np.abs(array) if is_complex else array).ravel()
        self.n = values.size
        self.n_nan = self.n_inf = 0
        self.n_zero = self.n - int(np.count_nonzero(values))
        self.bins: list[int] = []
        self.low, self.high = _range(values)
        if not np.isfinite(self.high - self.low):
            self.n_nan = int(np.isnan(values).sum())
            self.n_inf = int(np.isinf(values).sum())
            values = values[np.isfinite(values)]
            self.low, self.high = _range(values)
        self.norm = _norm(values, max(abs(self.low), abs(self.high)))
        if self.low < self.high and np.isfinite(self.high - self.low):
            sample = values[:: -(-values.size // MOST)].astype(np.float64)
            width = (self.high - self.low) / BINS
            at = ((sample - self.low) / width).astype(np.intp) if width else sample.astype(np.intp)
            self.bins = np.bincount(np.minimum(at, BINS - 1), minlength=BINS).tolist()

    def key(self) -> tuple:
        """Equal for gradients of which the same is known."""
        numbers = (self.norm, self.low, self.high, self.n_nan, self.n_inf, self.n_zero)
        return (*numbers, self.shape, tuple(self.bins), repr(self.values))

    def state(self, start: float) -> str:
        """What stands out, `start` being the norm of the gradient that the pass began with."""
        if self.n_nan:
            return "nan"
        if self.n_inf or self.norm > EXPLODING * max(start, 1e-300):
            return "exploding"
        if not self.norm:
            return "zero" if self.n else ""
        return "vanishing" if self.norm < VANISHING * start else ""


def _range(values: np.ndarray) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _norm(values: np.ndarray, most: float) -> float:
    """The norm of values of which the largest is `most`.

    Where their squares would leave the range of the dtype it is found of values near one.
    """
    if not most:
        return 0.0
    if values.dtype.kind == "f" and values.dtype.itemsize >= 4:
        if 1e-15 < most < 1e18 / values.size:
            return float(np.dot(values, values)) ** 0.5
    return most * float(np.linalg.norm(values.astype(np.float64) / most))


class NodeFlow:
    """What one node received and sent in a pass, and what it had kept for it.

    `sent` has a Flow, or None, for each edge of the node.
    """

    __slots__ = ("kept", "received", "sent", "time")

    def __init__(self, time: int, received: list, sent: list, kept: list | None = None):
        self.time = time
        self.received = received
        self.sent = sent
        self.kept = kept


def flows_of(g: Any) -> list:
    """What is known of the gradients that reached a node: one for each of its outputs."""
    return [None if x is None else Flow(x) for x in (g if isinstance(g, (list, tuple)) else [g])]


def walk(tensors: Any, grad_tensors: Any) -> dict[Any, NodeFlow]:
    """Run the backward pass of `tensors` on the side: by node, what flowed.

    The graph keeps what it holds, no `.grad` changes and no hook of a leaf is called.
    """
    stepper = Stepper(tensors, grad_tensors, True, False)
    state = stepper.walk
    state.waiting = None  # leaves stay where they are
    found: dict[Any, NodeFlow] = {}
    while state.ready:
        hooks = state.ready[0][1].hooks
        retained = None if hooks is None else hooks.retained
        if hooks is not None:
            hooks.retained = {}  # nor do tensors get a gradient that asked to retain it
        try:
            step = stepper.next()
        finally:
            if hooks is not None:
                hooks.retained = retained
        found[step.node] = NodeFlow(len(found), flows_of(step.received), _by_edge(step))
    for leaf in state.leaves:
        found[leaf] = NodeFlow(len(found), flows_of(state.pending[leaf]), [])
    return found


def _by_edge(step: Any) -> list:
    """What a step sent, for each edge of its node."""
    sent: list = [None] * len(step.node.edges)
    waiting = list(step.sent)
    for i, edge in enumerate(step.node.edges):
        if waiting and edge is not None and waiting[0][1] is edge:
            sent[i] = Flow(waiting.pop(0)[2])
    return sent


def start_of(flows: dict[Any, NodeFlow], roots: list) -> float:
    """The norm of the gradients that a pass began with."""
    norms = [f.norm for node in roots if node in flows for f in flows[node].received if f]
    return float(np.sqrt(sum(norm**2 for norm in norms))) if norms else 1.0
