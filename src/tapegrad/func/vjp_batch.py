"""Many cotangents pulled back in one pass."""

from __future__ import annotations

from collections.abc import Sequence

from tapegrad.arrays.batched.array import Level
from tapegrad.autograd.backward_grad import starts_of
from tapegrad.autograd.engine import run_backward
from tapegrad.autograd.mode import MODE
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.func.jacobian import outside
from tapegrad.func.level import enter
from tapegrad.func.vmap import depth_of
from tapegrad.func.vmap_mode import Mapping


def pulled_back(
    outs: Sequence, cotangents: list, edges: list, n: int, retain_graph: bool, create_graph: bool
) -> list:
    """Gradients at `edges` for each of `n` cotangents; None where none arrives."""
    under = MODE.get()
    level = Level(n, "error", depth_of(under) + 1)
    inside = [enter(g, axis=0, level=level) for g in cotangents]
    token = MODE.set(Mapping(under, level))
    try:
        found = run_backward(
            starts_of(outs, inside, create_graph),
            retain_graph=retain_graph,
            create_graph=create_graph,
            inputs=edges,
        )
    finally:
        MODE.reset(token)
    return [
        None if g is None else outside(g if isinstance(g, TensorBase) else wrap(g), level)
        for g in found
    ]
