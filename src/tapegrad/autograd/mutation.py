"""Writes to what a graph keeps: it keeps a copy of what was there, made just before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import WeakSet

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.errors import modified
from tapegrad.autograd.layered_mode import Layered, layer_of
from tapegrad.autograd.mode import MODE, Mode
from tapegrad.autograd.node import Version, version_of
from tapegrad.autograd.operator_base import OperatorBase
from tapegrad.autograd.saved import origin_of
from tapegrad.autograd.saved_tensor_hooks import saved_tensors_hooks
from tapegrad.autograd.view import edge_of, memory_owner
from tapegrad.core import errors
from tapegrad.core.annotations import Any, ModeLike
from tapegrad.core.tensor_base import wrap


class _Saved:
    """What a graph keeps of one tensor: its array, until that is about to be written."""

    __slots__ = ("__weakref__", "array", "counter", "origin", "version")

    def __init__(self, x: Any):
        self.array = x._array
        counter = version_of(x)
        self.version = counter.value
        self.counter: Version | None = counter  # None: what is saved is a copy, which nobody writes
        self.origin = origin_of(edge_of(x))

    def tensor(self) -> Any:
        if self.array is None:
            raise errors.assertion_error(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded.",
                "Run the backward pass inside the block.",
            )
        if self.counter is not None and self.counter.value != self.version:
            raise modified(self.array, self.counter, self.version, self.origin)
        return wrap(self.array)


class _AllowMutationOnSavedContext:
    """What `allow_mutation_on_saved_tensors` knows of the graphs made in its block."""

    def __init__(self) -> None:
        self._saved: dict[int, WeakSet[_Saved]] = {}  # by the owner of the memory
        self._all: WeakSet[_Saved] = WeakSet()

    def pack(self, x: object) -> _Saved:
        saved = _Saved(x)
        self._saved.setdefault(id(memory_owner(saved.array)), WeakSet()).add(saved)
        self._all.add(saved)
        return saved

    def before_write(self, array: Any) -> None:
        """Give what is saved in the memory of `array` memory of its own, each array once."""
        copies: dict[int, tuple] = {}
        for saved in self._saved.pop(id(memory_owner(array)), ()):
            if saved.counter is not None and saved.counter.value == saved.version:
                x = saved.array
                if id(x) not in copies:
                    copies[id(x)] = x, namespace_of((x,)).asarray(x, copy=True)
                saved.array = copies[id(x)][1]
                saved.counter = None

    def clear(self) -> None:
        """Let go of all that is saved."""
        for saved in self._all:
            saved.array = None
        self._saved.clear()
        self._all.clear()


_AllowMutationOnSavedContext.__module__ = "torch.autograd.graph"


class Mutating(Layered):
    """Tells a context before a tensor is written."""

    __slots__ = given = ("context",)
    context: _AllowMutationOnSavedContext
    at_bottom = True

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        op, inputs, _ = args
        if not isinstance(op, OperatorBase) and inputs:  # the function of an operator: a write
            self.writes(inputs[0])
        return self.below(name, function, args, kwargs)

    def writes(self, x: Any) -> None:
        self.context.before_write(x._array)
        super().writes(x)

    def stands_in(self, x: Any, before: Any) -> None:
        self.context.before_write(x._array)
        super().stands_in(x, before)

    def check_out(self, name: str, result: object, out: Any) -> None:
        self.context.before_write(out._array)
        super().check_out(name, result, out)

    def check_memory(self, name: str, x: Any) -> None:
        self.context.before_write(x._array)
        super().check_memory(name, x)


def _with_context(mode: ModeLike, context: _AllowMutationOnSavedContext) -> Any:
    """`mode` with the context told of writes, below the modes that watch or differentiate."""
    if isinstance(mode, Mode) and mode.under is not None and not mode.at_bottom:
        return mode.over(_with_context(mode.under, context))
    return Mutating(mode, context)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """In the block, tensors that a graph keeps may be written: it keeps what was there before.

    A copy is made just before the first write, and only then. Graphs made in the block can be
    walked in the block alone: what they keep is let go at its end.

    Raises:
        RuntimeError: if it is nested.
        AssertionError: from a backward pass after the block.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = (y * y).sum()
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor([2., 4.])
    """
    if layer_of(Mutating) is not None:
        raise errors.runtime_error(
            "allow_mutation_on_saved_tensors contexts cannot be nested",
            "The block around this one allows it already.",
        )
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, _Saved.tensor):
        token = MODE.set(_with_context(MODE.get(), context))
        try:
            yield context
        finally:
            MODE.reset(token)
            context.clear()
