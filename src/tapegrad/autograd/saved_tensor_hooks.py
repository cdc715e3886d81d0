"""Hooks on the tensors that a graph keeps for its backward pass: pack them, unpack them again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

from tapegrad.autograd import operator_base
from tapegrad.autograd.errors import modified
from tapegrad.autograd.history import CopySlices
from tapegrad.autograd.layered_mode import Layered, layer_of
from tapegrad.autograd.mode import MODE, Mode
from tapegrad.autograd.node import Port
from tapegrad.autograd.operator_base import OperatorBase
from tapegrad.autograd.packed import Packed, not_callable, pack_node
from tapegrad.autograd.saved import origin_of
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, ModeLike

# The array that an operator in place is about to write.
_GUARDED: ContextVar[Any] = ContextVar("tapegrad_guarded", default=None)


class Saving(Layered):
    """Packs what nodes save by `hooks`, a pair: pack and unpack.

    It lies below the modes that watch or differentiate what is computed (a profiler, forward mode),
    directly on the grad mode, so that it sees all that is recorded.
    """

    __slots__ = given = ("hooks",)
    hooks: tuple[Callable, Callable]
    at_bottom = True

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


FORBIDDEN: ContextVar[str | None] = ContextVar("tapegrad_hooks_forbidden", default=None)
"""What entering `saved_tensors_hooks` raises here, if it does."""


class saved_tensors_hooks:
    """In the block, what `pack_hook` makes of a tensor is saved for backward in its place.

    When the backward pass wants the tensor, `unpack_hook` gets what was saved and returns a tensor
    of the same shape and dtype, each time it is wanted. Of nested blocks the innermost counts.
    Tensors that are packed are not watched for writes: a hook that returns what it got would see
    them.

    Args:
        pack_hook: from the tensor to anything. It runs without recording and may not write to it.
        unpack_hook: from what `pack_hook` returned to a tensor.

    Raises:
        RuntimeError: on entering, where `disable_saved_tensors_hooks` forbids it; from the call
            that is recorded, if the pack hook wrote to its tensor.
        TypeError: from the backward pass, if the unpack hook returned no tensor.

    >>> x = torch.ones(3, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.half(), lambda h: h.float()):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 2., 2.])
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook
        self._tokens: list[Token] = []

    def __enter__(self) -> None:
        hooks = (self.pack_hook, self.unpack_hook)
        check_hooks()
        if not (callable(hooks[0]) and callable(hooks[1])):
            raise not_callable("_push_saved_tensors_default_hooks", "", *hooks)
        self._tokens.append(MODE.set(with_hooks(MODE.get(), hooks)))

    def __exit__(self, *error: object) -> None:
        if not self._tokens:
            raise errors.runtime_error(
                "saved_tensors_hooks was left without having been entered",
                "Use it in a `with` statement.",
            )
        MODE.reset(self._tokens.pop())


class save_on_cpu(saved_tensors_hooks):
    """In the block, tensors that are saved for backward are saved in the CPU's memory.

    Those of the CPU are there already and are saved as they are: nothing is copied.

    Args:
        pin_memory: accepted; there is no other device to copy from.
        device_type: accepted, as `pin_memory`.

    Raises:
        RuntimeError: from the backward pass, if a tensor was written in place since it was saved.

    >>> x = torch.ones(3, requires_grad=True)
    >>> with torch.autograd.graph.save_on_cpu():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 2., 2.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(_as_it_is, _unchanged)


def _as_it_is(x: Any) -> tuple[Any, int, str]:
    return x.detach(), x._version, origin_of(edge_of(x))


def _unchanged(saved: tuple[Any, int, str]) -> Any:
    x, version, origin = saved
    if x._version != version:
        raise modified(x._array, x._counter, version, origin)
    return x


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In the block, entering `saved_tensors_hooks` raises a RuntimeError of this message.

    So does entering this block where such hooks are on.

    >>> with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     with torch.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
    RuntimeError: no hooks here
    """
    if not isinstance(error_message, str):
        raise errors.type_error(
            "_saved_tensors_hooks_disable(): incompatible function arguments. The following "
            "argument types are supported:\n    1. (error_message: str, fail_if_non_empty: "
            f"bool = True) -> None\n\nInvoked with: {error_message!r}",
            "Say what a user should read.",
        )
    token = forbid_hooks(error_message)
    try:
        yield
    finally:
        FORBIDDEN.reset(token)


def check_hooks() -> None:
    """Raise where `saved_tensors_hooks` may not be entered."""
    message = FORBIDDEN.get()
    if message is not None:
        raise RuntimeError(message)


def forbid_hooks(message: str) -> Token:
    """Let entering `saved_tensors_hooks` raise until `FORBIDDEN` is reset; raise if some are on."""
    if type(MODE.get()) is not bool and layer_of(Saving) is not None:
        raise RuntimeError(message)
    return FORBIDDEN.set(message)
