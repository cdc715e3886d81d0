"""The mode of a context with saved-tensor hooks: what calls keep for the backward pass is packed.

It lies below the modes that watch or differentiate what is computed (a profiler, forward mode),
directly on the grad mode, so that it sees all that is recorded.
"""

from __future__ import annotations

from contextvars import ContextVar

from tapegrad.autograd import operator_base
from tapegrad.autograd.history import CopySlices
from tapegrad.autograd.layered_mode import Layered, layer_of
from tapegrad.autograd.mode import MODE, Mode
from tapegrad.autograd.node import Port
from tapegrad.autograd.operator_base import OperatorBase
from tapegrad.autograd.packed import Packed, pack_node
from tapegrad.core.annotations import Any, Callable, ModeLike

# The array that an operator in place is about to write.
_GUARDED: ContextVar[Any] = ContextVar("tapegrad_guarded", default=None)


class Saving(Layered):
    """Packs what nodes save by `hooks`, a pair: pack and unpack."""

    __slots__ = ("hooks",)
    at_bottom = True

    def __init__(self, under: ModeLike, hooks: tuple[Callable, Callable]):
        super().__init__(under)
        self.hooks = hooks

    def over(self, under: ModeLike) -> Saving:
        return Saving(under, self.hooks)

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, params = args
        under = self.under
        if type(under) is not bool:
            result = under.call(name, function, args, kwargs)
        else:
            token = MODE.set(under)
            try:
                if function is operator_base.APPLY:  # an operator: by its fast path
                    result = op.call(*inputs, **params)
                else:
                    result = function(*args, **kwargs)
            finally:
                MODE.reset(token)
        if self.grad:
            if isinstance(op, OperatorBase):
                outs = result if type(result) is tuple else (result,)
                node = _maker(outs)
            else:  # the function of an operator: a write
                outs = inputs[:1]
                node = _writer(*outs)
            if node is not None:
                pack_node(node, inputs, outs, self.hooks, _GUARDED.get())
        return result

    def in_place(self, name: str, compute: Callable, x: Any) -> Any:
        """Compute what is written into `x`: of `x` as it was a copy is packed."""
        token = _GUARDED.set(x._array)
        try:
            return super().in_place(name, compute, x)
        finally:
            _GUARDED.reset(token)


def _maker(outs: tuple) -> Any:
    """The node of a call that has just returned `outs`; None where nothing was recorded."""
    for out in outs:
        edge = out._node
        if edge is not None:
            return edge.node if type(edge) is Port else edge
    return None


def _writer(x: Any = None) -> Any:
    """The node of an operator that has just written into `x`."""
    if x is None:
        return None
    edge = (x if x._view is None else x._view.base)._node
    node = edge.node if type(edge) is Port else edge
    return node.saved[0] if isinstance(node, CopySlices) and node.saved else node


def with_hooks(mode: ModeLike, hooks: tuple[Callable, Callable]) -> Any:
    """`mode` with these hooks in place of those it has."""
    if isinstance(mode, Saving):
        return Saving(mode.under, hooks)
    if isinstance(mode, Mode) and mode.under is not None:
        return mode.over(with_hooks(mode.under, hooks))
    return Saving(mode, hooks)


def packed_by_mode(x: object) -> Any:
    """What is to be saved of a tensor for the backward pass: `Packed` where hooks are on, or None.

    For whoever makes nodes without an operator.
    """
    mode = layer_of(Saving)
    return None if mode is None else Packed(x, *mode.hooks)
