"""Why a gradient stands out where nothing is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tapegrad.inspect.record import Edge

_NORMS = ("NativeBatchNormBackward0", "NativeGroupNormBackward0")
_ADDS = {  # by operator, what it calls that which it adds
    "ConvolutionBackward0": ("bias",),
    "AddmmBackward0": ("input",),
    "AddBackward0": ("input", "other"),
}
_VIEWS = ("ViewBackward0", "UnsafeViewBackward0")
_BIAS = (
    "The normalisation after it subtracts the mean of each channel, and with it whatever this bias "
    "adds: its gradient is zero but for rounding. The layer can do without it (bias=False)."
)


def explain(edges: list[Edge]) -> None:
    """Tell those edges that stand out why, where that is known: their `why`."""
    users: dict[int, list[Edge]] = {}
    for edge in edges:
        users.setdefault(edge.source.number, []).append(edge)
    for edge in edges:
        if edge.state in ("vanishing", "zero") and _is_bias(edge) and _normalised(edge, users):
            edge.why = _BIAS


def _is_bias(edge: Edge) -> bool:
    leaf = edge.source
    one_axis = leaf.shape is not None and sum(n > 1 for n in leaf.shape) <= 1
    return leaf.kind != "operator" and one_axis and edge.input in _ADDS.get(edge.target.name, ())


def _normalised(edge: Edge, users: dict[int, list[Edge]]) -> bool:
    """Whether all that uses what the edge's operator computes normalises it."""
    while True:
        found = users.get(edge.target.number, [])
        if len(found) != 1 or found[0].target.name not in _VIEWS:
            return bool(found) and all(
                x.target.name in _NORMS and x.input == "input" for x in found
            )
        edge = found[0]
