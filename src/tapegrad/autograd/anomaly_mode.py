"""Anomaly mode: which line of the forward pass a failing backward pass comes from.

While it is on, in every thread, nodes note who made them, and a backward pass looks at what they
give. Off, it costs nothing: the plans that make nodes are changed when it is switched.

>>> x = torch.tensor([0.0, 4.0], requires_grad=True)
>>> with torch.autograd.set_detect_anomaly(True):
...     y = (x.sqrt() * x).sum()
>>> torch.is_anomaly_enabled()
False
"""

from __future__ import annotations

import threading
import warnings
from math import isfinite

from tapegrad.autograd import trace
from tapegrad.autograd.anomaly_report import (
    anomaly_error,
    explain_failure,
    infinity_in_words,
    is_infinite,
    is_view,
    squares,
)
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import EVERYWHERE
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.plan import PLANS
from tapegrad.autograd.trace import FREED_BY, RUNNING, Trace, frames_here, note_node
from tapegrad.core.annotations import Any, Array, Callable, ModeLike, NodeLike, PlanLike, Sequence
from tapegrad.core.errors import must_be

__all__ = ["detect_anomaly", "set_detect_anomaly"]
__torch__ = "is_anomaly_check_nan_enabled is_anomaly_enabled"

set_running, reset_running = RUNNING.set, RUNNING.reset


class AnomalyMode(Layered):
    """Looks at what nodes give in one backward pass, on top of the mode of that pass."""

    __slots__ = ("check_inf", "check_nan", "clean", "infinity", "trace")

    def __init__(self, under: ModeLike, check_nan: bool, check_inf: bool):
        super().__init__(under)
        self.check_nan = check_nan
        self.check_inf = check_inf
        self.clean = True  # whether all gradients of the pass so far are finite, and not too large
        self.infinity = ""  # where the first one was made, in words
        self.trace: Trace | None = None  # where the pass was called, if it frees the graph

    def over(self, under: ModeLike) -> AnomalyMode:
        return AnomalyMode(under, self.check_nan, self.check_inf)

    def backward_begins(self, walk: Any) -> None:
        self.trace = None if walk.retain_graph else Trace(frames_here())
        self.clean = all(isfinite(squares(g)) for _, g in walk.roots)
        super().backward_begins(walk)

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
        if type(node) is AccumulateGrad:
            return super().backward_node(node, function, args)
        token = set_running(node)
        try:
            grads = super().backward_node(node, function, args)
        except Exception as error:
            explain_failure(error, node, args[1])
            raise
        finally:
            reset_running(token)
        self._look(node, grads, args[1])
        if self.trace is not None:
            FREED_BY[node] = self.trace
        return grads

    def runner(self) -> Callable | None:
        if type(self.under) is not bool:
            return None

        def run(node: NodeLike, g: Array, retain: bool) -> Any:
            token = set_running(node)
            try:
                flow = node.plan.run(node, g, True)
            except Exception as error:
                explain_failure(error, node, g)
                raise
            finally:
                reset_running(token)
            self._look(node, flow[1::2], g)
            if self.trace is not None and node.plan.saves_tensors:  # nothing is retained
                node.saved = None
                FREED_BY[node] = self.trace
            return flow

        return run

    def hook_failed(self, node: NodeLike, received: object, error: Exception) -> None:
        explain_failure(error, node, received, "A hook of ")

    def _look(self, node: NodeLike, grads: Sequence, received: object) -> None:
        """Raise if one of the gradients that a node gives is not as it should be."""
        for i, g in enumerate(grads):
            # a view of what came in was looked at already, unless that is a sum of infinities
            if g is None or (self.clean and node.hooks is None and is_view(g, received)):
                continue
            total = squares(g)
            if total != total:
                if self.check_nan:
                    raise anomaly_error(node, grads, i, "nan", received, self.infinity)
                self.clean = False
            elif not isfinite(total):
                self.clean = False
                if (self.check_inf or not self.infinity) and is_infinite(g):
                    if self.check_inf:
                        raise anomaly_error(node, grads, i, "infinite", received, "")
                    self.infinity = infinity_in_words(node, g)


class _Everywhere:
    """What `EVERYWHERE` has while the mode is on."""

    def __init__(self, check_nan: bool, check_inf: bool):
        self.check_nan = check_nan
        self.check_inf = check_inf

    def mode_over(self, mode: ModeLike) -> AnomalyMode:
        """The mode of a backward pass, with the looks at its gradients."""
        return AnomalyMode(mode, self.check_nan, self.check_inf)

    def follow(self, plan: PlanLike) -> None:
        """Let a plan note who makes its nodes."""
        if not hasattr(plan.node_of_call, "silent"):
            plan.node_of_call = _noting(plan.node_of_call)
            plan.node_of_small = plan.node_of_small and _noting(plan.node_of_small)

    made = staticmethod(note_node)  # a node that no plan has made


def _noting(silent: Callable) -> Callable:
    """A constructor of nodes that notes who calls it."""

    def make(*args: object) -> Any:
        node = silent(*args)
        note_node(node)
        return node

    make.silent = silent  # type: ignore[attr-defined]
    return make


def _silence(plan: PlanLike) -> None:
    for name in ("node_of_call", "node_of_small"):
        make = getattr(plan, name)
        setattr(plan, name, getattr(make, "silent", make))


_lock = threading.Lock()


def _switch(enabled: bool, check_nan: bool, check_inf: bool) -> None:
    for i, (name, value) in enumerate([("enabled", enabled), ("check_nan", check_nan)], start=1):
        if type(value) is not bool:
            raise must_be("set_anomaly_enabled", name, i, "bool", value)
    with _lock:
        trace.anomaly = enabled, check_nan, check_inf
        EVERYWHERE[:] = [_Everywhere(check_nan, check_inf)] if enabled else []
        for plan in list(PLANS):
            if enabled:
                EVERYWHERE[0].follow(plan)
            else:
                _silence(plan)


class set_detect_anomaly:
    """Switch anomaly mode on or off: at once as a statement, for a block as a context manager.

    It holds for the whole process: a forward pass in one thread and a backward pass in another
    have it, too.

    Args:
        mode: whether operators note where they were called, and nodes that fail say so.
        check_nan: whether a node that gives nan in the backward pass raises.
        check_inf: the same for infinity; PyTorch has no such option.

    Raises:
        TypeError: `mode` or `check_nan` is no bool.

    >>> torch.autograd.set_detect_anomaly(True)
    <...set_detect_anomaly object at ...>
    >>> torch.is_anomaly_enabled()
    True
    >>> _ = torch.autograd.set_detect_anomaly(False)
    """

    def __init__(self, mode: bool, check_nan: bool = True, *, check_inf: bool = False):
        self.prev, self.prev_check_nan, self._prev_check_inf = trace.anomaly
        _switch(mode, check_nan, bool(check_inf))

    def __enter__(self) -> None:
        """The mode was set when the object was made; leaving the block takes it back."""

    def __exit__(self, *error: object) -> None:
        _switch(self.prev, self.prev_check_nan, self._prev_check_inf)


class detect_anomaly:
    """Context manager in which a backward pass that fails or gives nan says which call is to blame.

    Operators inside note the lines that called them. When a node of theirs fails in the backward
    pass, or gives nan, a warning shows that traceback, and a note of the error says at which index,
    and how what it was computed from looks.

    Args:
        check_nan: whether nan raises.
        check_inf: whether infinity raises; PyTorch has no such option.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = torch.tensor([0.0, 4.0], requires_grad=True)
    >>> with torch.autograd.detect_anomaly():
    ...     y = (x - x).sqrt() * 0
    ...     y.sum().backward()
    Traceback (most recent call last):
        ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    ...
    """

    def __init__(self, check_nan: bool = True, *, check_inf: bool = False):
        self.check_nan, self._check_inf = check_nan, bool(check_inf)
        self.prev, self.prev_check_nan, self._prev_check_inf = trace.anomaly
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        _switch(True, self.check_nan, self._check_inf)

    def __exit__(self, *error: object) -> None:
        _switch(self.prev, self.prev_check_nan, self._prev_check_inf)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on.

    >>> torch.is_anomaly_enabled()
    False
    """
    return trace.anomaly[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Whether nan in a backward pass would raise in anomaly mode.

    >>> torch.is_anomaly_check_nan_enabled()
    True
    """
    return trace.anomaly[1]
