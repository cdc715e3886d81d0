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

import sys
import threading
from math import isfinite

import numpy as np

from tapegrad.autograd import trace
from tapegrad.autograd.describe import array_of, saved_by, saved_name, statistics, target_name
from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import EVERYWHERE
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.plan import PLANS
from tapegrad.autograd.trace import (
    FREED_BY,
    RUNNING,
    Trace,
    frames_here,
    n_own_frames,
    note_node,
    trace_of,
)
from tapegrad.core.annotations import Any, Array, Callable, ModeLike, NodeLike, PlanLike, Sequence
from tapegrad.core.errors import advised, must_be, warn

__all__ = ["detect_anomaly", "set_detect_anomaly"]
__torch__ = "is_anomaly_check_nan_enabled is_anomaly_enabled"

set_running, reset_running = RUNNING.set, RUNNING.reset


class AnomalyMode(Layered):
    """Looks at what nodes give in one backward pass, on top of the mode of that pass."""

    __slots__ = ("check_inf", "check_nan", "clean", "infinity", "trace")
    given = ("check_nan", "check_inf")
    check_nan: bool
    check_inf: bool

    def __init__(self, under: ModeLike, check_nan: bool, check_inf: bool):
        super().__init__(under, check_nan, check_inf)
        self.clean = True  # whether all gradients of the pass so far are finite, and not too large
        self.infinity = ""  # where the first one was made, in words
        self.trace: Trace | None = None  # where the pass was called, if it frees the graph

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
        self.check_nan, self.check_inf = check_nan, check_inf

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
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging."
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


# --- reports: what is wrong with a gradient, and where it comes from ---


def squares(g: Array) -> Any:
    """The sum of the squares of a gradient: nan if and only if one of them is, 0 for no numbers."""
    array = array_of(g)
    if type(array) is not np.ndarray:
        return 0.0
    kind = array.dtype.kind
    if kind == "V":  # bfloat16
        return np.square(array.astype(np.float32)).sum()
    if kind not in "fc":
        return 0.0
    if 0 in array.strides:  # repeated numbers: look at each once
        array = array[tuple([slice(None) if s else slice(1) for s in array.strides])]
    flat = array.ravel("K")  # in the order of memory: a copy is not needed for it
    if kind == "c":
        flat = flat.view(flat.real.dtype)
    return np.vdot(flat, flat)


def is_infinite(g: Array) -> bool:
    """Whether one of the numbers of a gradient is."""
    return bool(np.isinf(array_of(g)).any())


def is_view(g: Array, received: object) -> bool:
    """Whether a gradient is what came in, or a view of it, as of a transposed matrix."""
    base = getattr(g, "base", None)
    return g is received or (
        base is not None and (base is received or base is getattr(received, "base", None))
    )


def anomaly_error(
    node: NodeLike, grads: Sequence, i: int, what: str, received: object, infinity: str
) -> RuntimeError:
    """The error for one of the gradients that a node gave, with what it was computed from.

    `what` is `"nan"` or `"infinite"`, `infinity` tells of the first one of the pass.
    """
    _tell(node)
    error = RuntimeError(
        f"Function '{type(node).__name__}' returned {what} values in its "
        f"{_output(node, len(grads), i)}th output."
    )
    array = np.asarray(array_of(grads[i]))
    bad = np.isnan(array) if what == "nan" else np.isinf(array)
    at = _first(bad)
    lines = [f"{int(bad.sum())} of {bad.size} elements are {what}{_at_index(at)}."]
    if infinity:
        lines.append(f"The first infinity of this backward pass was {infinity}.")
    lines += _inputs(node, received, at)
    lines.append(_line(node, _ADVICE))
    return advised(error, "\n".join(lines))


def explain_failure(error: Exception, node: NodeLike, received: object, what: str = "") -> None:
    """Tell of the forward call of a node that raised, and note in the error what it worked on.

    `what` of the node it was, `"A hook of "`, where it was not the node itself.
    """
    _tell(node)
    lines = [f"{what}{target_name(node)} failed.", *_inputs(node, received, None)]
    if type(node) is not AccumulateGrad:
        lines.append(_line(node))
    error.add_note("\n".join(lines))


def infinity_in_words(node: NodeLike, g: Array) -> str:
    """Which node made an infinity, at which index, and where it was called."""
    at = _first(np.isinf(array_of(g)))
    trace = trace_of(node)
    where = None if trace is None else trace.line()
    called = "" if where is None else f", of the operator called at {where[0]}:{where[1]}"
    return f"made by {type(node).__name__}{_at_index(at)}{called}"


_ADVICE = (
    "Keep what goes in away from where its derivative is not finite: clamp() it, or choose with "
    "where() before."
)


def _first(bad: Any) -> tuple[int, ...]:
    """The index of the first element that is true."""
    return tuple([int(k) for k in np.argwhere(bad)[0]])


def _at_index(at: tuple[int, ...]) -> str:
    return f", the first at {list(at)}" if at else ""


def _output(node: NodeLike, n: int, i: int) -> int:
    """Which of the outputs that a user sees the `i`-th of `n` gradients is."""
    plan = node.plan
    rules = plan.rules if hasattr(plan, "rules") and not plan.op.variadic else ()
    if n == len(rules) != len(node.edges):  # no more than what the rules gave
        i = rules[i][0]
    hidden = plan.op.hidden if hasattr(plan, "op") else ()
    return i - sum(each < i for each in hidden)


def _inputs(node: NodeLike, received: object, at: tuple[int, ...] | None) -> list[str]:
    """What a node computes its gradients from: sizes, statistics, and the numbers at an index."""
    values = {"the gradient that came in": received}
    values.update({saved_name(name): value for name, value in saved_by(node).items()})
    lines = ["The gradient was computed from:"]
    for name, value in values.items():
        array = array_of(value)
        there = ""
        if at and isinstance(array, np.ndarray) and len(at) == array.ndim:
            if all(k < n for k, n in zip(at, array.shape, strict=True)):
                there = f"; {array[at]:.4g} at {list(at)}"
        lines.append(f"  {name}: {statistics(value)}{there}")
    return lines


def _line(node: NodeLike, advice: str = "") -> str:
    """Where the operator was called, and what to do there."""
    trace = trace_of(node)
    where = None if trace is None else trace.line()
    if where is None:
        return "Run the forward pass in anomaly mode, too, to know which line called the operator."
    return f"The operator was called at {where[0]}:{where[1]}. {advice}".rstrip()


# --- warnings ------------------------------------------------------------------------------------


def _tell(node: NodeLike) -> None:
    """Warn with the forward call that made a node, and what induced that."""
    name, trace = node.name(), trace_of(node)
    if trace is None:
        _warn(
            f"Error detected in {name}. No forward pass information available. Enable detect "
            "anomaly during forward pass for more information."
        )
        return
    _warn(
        f"Error detected in {name}. Traceback of forward call that caused the error:\n"
        f"{trace.text()}"
    )
    parent = trace.parent
    while parent is not None:
        name, induced, _ = parent
        if induced is None:
            _warn(
                f"\n\nPrevious calculation was induced by {name}. No forward pass information "
                "available. Enable detect anomaly during forward pass for more information."
            )
            return
        _warn(
            f"\n\nPrevious calculation was induced by {name}. Traceback of forward call that "
            f"induced the previous calculation:\n{induced.text()}"
        )
        parent = induced.parent


def _warn(text: str) -> None:
    try:
        warn(text, n_own_frames() + 1)
    except Warning as raised:  # the error that it is about is on its way, and not to be lost
        print(f"{type(raised).__name__}: {raised}", file=sys.stderr)
