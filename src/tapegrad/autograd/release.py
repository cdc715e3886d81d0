"""Freeing a deep graph one node at a time, where the stack is too small for Python's own way.

A node that is freed frees the nodes behind it, and these theirs: Python bounds that recursion, but
in a browser its bound is above what the browser's stack holds, and a chain of a few thousand nodes
ends the page.
"""

from tapegrad.autograd.node import OperatorNode, PairNode, TupleNode
from tapegrad.core.annotations import Any, Callable

_waiting: list[Any] = []  # what freed nodes held
_at_work: list[bool] = []  # whether somebody empties it


def release(slots: tuple[str, ...]) -> Callable:
    """A finalizer that lets go of what a node holds in `slots` after the node has gone."""

    def finalize(node: OperatorNode) -> None:
        for slot in slots:
            _waiting.append(getattr(node, slot, None))
            setattr(node, slot, None)
        if _at_work:
            return
        _at_work.append(True)
        while _waiting:
            _waiting.pop()
        _at_work.pop()

    return finalize


def install(kinds: tuple = (TupleNode, PairNode)) -> None:
    """Let all nodes be freed so."""
    for kind in kinds:
        kind.__del__ = release(kind.__slots__)
