"""One checkpoint: what stands for the tensors that its stretch of graph would keep.

Forward, each tensor that a node would keep is replaced by a `Holder`, which knows its number.
Backward, the first holder that is unpacked has the function run again; what its nodes would keep,
in the same order, are the tensors that the holders stood for.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar

import tapegrad
from tapegrad.autograd.errors import modified
from tapegrad.autograd.function import Function
from tapegrad.autograd.layered_mode import Block, Layered
from tapegrad.autograd.mode import enable_grad
from tapegrad.autograd.operator_base import public_name
from tapegrad.autograd.saved import origin_of
from tapegrad.autograd.saved_tensor_hooks import saved_tensors_hooks
from tapegrad.autograd.trace import Trace, frames_here
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised
from tapegrad.core.tensor_base import TensorBase


class _Listing(Layered):
    """Notes every operator, and the line that called it."""

    __slots__ = given = ("lines",)
    lines: list[str]

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = self.below(name, function, args, kwargs)
        op, inputs, _ = args
        shapes = ", ".join(str(list(x.shape)) for x in inputs if hasattr(x, "_array"))
        where = Trace(frames_here(), None).line()
        place = "" if where is None else f"   {where[0]}:{where[1]}"
        self.lines.append(f"{public_name(name, getattr(op, 'node_name', ''))}({shapes}){place}")
        return result


class Log:
    """What ran forward, and what ran again."""

    def __init__(self) -> None:
        self.forward: list[str] = []
        self.again: list[str] = []

    def contexts(self) -> tuple[Any, Any]:
        """Two contexts, one for each run, in which operators are noted."""
        return Block(_Listing, self.forward), Block(_Listing, self.again)

    def error(self) -> CheckpointError:
        """The error that lists both."""
        return advised(
            CheckpointError(
                " An error happened while unpacking tensors; dumping logs of latest computation\n"
                "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\n"
                f"Operators of the original forward:\n{_text(self.forward)}\n"
                f"Operators of the recomputation:\n{_text(self.again)}\n"
                "You are seeing this error because you passed `debug=True` to checkpoint and the "
                "two runs did not save the same tensors."
            ),
            "Look for the first line in which the two lists differ.",
        )


def _text(lines: list[str]) -> str:
    return "".join(f"{i:5d}  {line}\n" for i, line in enumerate(lines, 1))


class CheckpointError(RuntimeError):
    """A checkpoint whose function did something else when it was run again."""


class GraphExecGroup:
    """A block in which a checkpoint runs again once at most, whatever backward passes there are.

    Outside of such a block, too, what the second run gave and a pass did not use is there for the
    next one. In it, passes that use the same of what was kept are an error, as in PyTorch.

    Raises:
        RuntimeError: if it is nested.
        CheckpointError: from a backward pass that uses what another one has used.

    >>> x = torch.ones(2, requires_grad=True)
    >>> a, b = torch.utils.checkpoint.checkpoint(
    ...     lambda x: (x.sin(), x.exp()), x, use_reentrant=False
    ... )
    >>> with torch.utils.checkpoint.GraphExecGroup():
    ...     a.sum().backward(retain_graph=True)
    ...     b.sum().backward()
    """

    def __init__(self) -> None:
        self._used: set[Holder] = set()
        self._token: Any = None

    def __enter__(self) -> GraphExecGroup:
        around = GROUP.get()
        if around is not None:
            raise errors.runtime_error(
                "GraphExecGroup contexts cannot be nested. Already inside group " + repr(around),
                "The block around this one is enough.",
            )
        self._token = GROUP.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        GROUP.reset(self._token)

    def check(self, holder: Holder) -> None:
        """Raise if the tensor that a holder stands for was used in this block already."""
        if holder in self._used:
            raise errors.advised(
                CheckpointError(
                    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was "
                    "already unpacked once. Performing two backward calls that overlap (i.e. "
                    "require the same saved activation in order to compute gradients) is not "
                    "allowed while under the torch.utils.checkpoint.GraphExecGroup context. If you "
                    "are calling ctx.saved_tensors in backward, make sure to do so only once. "
                    "Otherwise please open an issue with details on your use case."
                ),
                "Run such passes outside of the block.",
            )
        self._used.add(holder)


GROUP: ContextVar[GraphExecGroup | None] = ContextVar("tapegrad_graph_exec_group", default=None)
CheckpointError.__module__ = GraphExecGroup.__module__ = "torch.utils.checkpoint"


class Stop(Exception):
    """All tensors are there: the rest of the function need not run."""


class Holder:
    """Stands for one tensor."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, number: int):
        self.number = number

    def __repr__(self) -> str:
        return "a tensor that is computed again"


class KeepInputs(Function):
    """Keeps tensors as any node does: watched for writes, packed by the hooks around it."""

    @staticmethod
    def forward(ctx: Any, anchor: Any, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        return anchor.new_empty(0)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("nothing is computed from what it returns")


class Frame:
    """What one checkpoint knows."""

    def __init__(self, run_again: Callable, early_stop: bool, describe: Callable, log: Any = None):
        self.run_again = run_again  # called with the arguments
        self.early_stop = early_stop
        self.describe = describe  # a tensor as it has to come out again
        self.log = log  # None, or the operators of both runs
        self.holders: list[weakref.ref[Holder]] = []
        self.descriptions: list[Any] = []
        self.found: dict[int, tuple[Any, int, str]] = {}  # tensor, its version and origin
        self.n_found = 0
        self.args: list[Any] = []
        self.places: list[int] = []
        self.kept: Any = None  # the node that keeps the tensors among the arguments
        self.complete = False  # whether the first run has ended: a backward pass may be part of it

    def keep(self, args: tuple) -> None:
        """Keep the arguments for the second run."""
        self.places = [i for i, x in enumerate(args) if isinstance(x, TensorBase)]
        self.args = [None if isinstance(x, TensorBase) else x for x in args]
        anchor = tapegrad.empty(0, requires_grad=True)
        self.kept = KeepInputs.apply(anchor, *[args[i] for i in self.places]).grad_fn

    # --- hooks ---

    def pack(self, x: object) -> Holder:
        holder = Holder(len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.descriptions.append(self.describe(x))
        return holder

    def unpack(self, holder: Holder) -> Any:
        group = GROUP.get()
        if group is not None:
            group.check(holder)
        if holder.number not in self.found:
            try:
                self._run_again()
                self._check()
            except CheckpointError as error:
                if self.log is None:
                    raise
                raise self.log.error() from error
        x, version, origin = self.found.pop(holder.number)
        if x._version != version:
            raise modified(x._array, x._counter, version, origin)
        return x

    def hooks(self) -> saved_tensors_hooks:
        return saved_tensors_hooks(self.pack, self.unpack)

    # --- the second run ---

    def _run_again(self) -> None:
        args = list(self.args)
        for i, x in zip(self.places, self.kept.saved_tensors, strict=True):
            args[i] = x
        self.found.clear()
        self.n_found = 0
        if self.log is not None:
            self.log.again.clear()
        try:
            with saved_tensors_hooks(self._note, lambda x: x), enable_grad():
                self.run_again(*args)
        except Stop:
            pass

    def _note(self, x: Any) -> Any:
        """Keep a tensor of the second run, if what it is for is still there."""
        number = self.n_found
        self.n_found += 1
        if number >= len(self.holders):
            if not self.complete:
                return x.detach()
            raise _unlike(
                "trying to save more tensors during recomputation than "
                "during the original forward pass."
            )
        edge = edge_of(x)
        if edge is not None:
            x = x.detach()
        if self.holders[number]() is not None:
            self.found[number] = (x, x._version, origin_of(edge))
        if self.early_stop and self.n_found == len(self.holders):
            raise Stop
        return x

    def _check(self) -> None:
        """Raise unless the second run gave the tensors of the first."""
        n = len(self.holders)
        if self.n_found < n or (self.n_found > n and self.complete):
            raise _unlike(
                "A different number of tensors was saved during the "
                "original forward and recomputation.\nNumber of tensors saved during forward: "
                f"{n}\nNumber of tensors saved during recomputation: {self.n_found}."
            )
        wrong = ""
        for i, (x, _, _) in self.found.items():
            now = self.describe(x)
            if now != self.descriptions[i]:
                wrong += (
                    f"tensor at position {i}:\nsaved metadata: {self.descriptions[i]}\n"
                    f"recomputed metadata: {now}\n"
                )
        if wrong:
            raise _unlike(
                "Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{wrong}."
            )


_ADVICE = (
    "The function did not do the same twice: does it depend on something that has changed? With "
    "debug=True both runs are listed, operator by operator."
)


def _unlike(text: str) -> CheckpointError:
    """The error for a second run that was not like the first."""
    return advised(CheckpointError(f"torch.utils.checkpoint: {text}"), _ADVICE)


def metadata(x: Any) -> dict[str, Any]:
    """What has to be the same of a tensor in both runs."""
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


def nothing(x: object) -> None:
    """The same where nothing is checked."""
