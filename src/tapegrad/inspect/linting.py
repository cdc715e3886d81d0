"""Lint: warnings about training loops that run and do not learn what they should."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from typing import Any

from tapegrad.autograd.graph import AccumulateGrad, Port
from tapegrad.autograd.mode import MODE, _Decorating
from tapegrad.autograd.trace import Trace, Tracing, n_own_frames, trace_of
from tapegrad.autograd.view import edge_of
from tapegrad.inspect.log import ById
from tapegrad.op import Op

_MANY = 20  # losses that may be alive after their backward pass
_SUMMED = 3  # passes of which the losses may be added up


class LintWarning(UserWarning):
    """Something in a training loop that is seldom meant."""


class _Findings:
    """What was seen of a loop; shared by the modes that `no_grad` and the like make of one."""

    def __init__(self) -> None:
        self.told: set[tuple] = set()  # each thing is said once for each line
        self.used: ById = ById()  # by gradient: where a step used it
        self.finished: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.sums: weakref.WeakKeyDictionary[Any, frozenset] = weakref.WeakKeyDictionary()
        self.n_passes = 0
        self.evaluated: dict[str, Trace] = {}  # models that recorded in eval mode, since the step
        self.unrecorded: dict[int, tuple[weakref.ref, Trace]] = {}  # leaves used under no_grad

    def tell(self, kind: str, text: str, place: Any = None) -> None:
        if (kind, place) not in self.told:
            self.told.add((kind, place))
            warnings.warn(text, LintWarning, stacklevel=n_own_frames() + 1)


def _at(trace: Trace) -> str:
    where = trace.line()
    return "" if where is None else f" at {where[0]}:{where[1]}"


class Lint(Tracing):
    """Looks for such things, on top of another mode."""

    __slots__ = ("findings",)

    def __init__(self, under: Any, findings: _Findings):
        super().__init__(under)
        self.findings = findings

    def over(self, under: Any) -> Lint:
        return Lint(under, self.findings)

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = super().call(name, function, args, kwargs)
        op, inputs, _ = args
        if isinstance(op, Op):
            if self.grad:
                self._look_at_model(result)
                if op.name.startswith("add"):
                    self._look_at_sum(inputs, result)
            else:
                self._look_at_leaves(inputs)
        return result

    def _look_at_model(self, result: Any) -> None:
        """Remember a model that records in eval mode."""
        node = _node(result)
        trace = None if node is None else trace_of(node)  # noted when the node was made
        modules = [] if trace is None else trace.modules
        if trace is not None and modules and not modules[-1].training:
            self.findings.evaluated.setdefault(type(modules[-1]).__name__, trace)

    def _look_at_leaves(self, inputs: Any) -> None:
        """Remember leaves that a model uses under no_grad."""
        for x in inputs:
            if hasattr(x, "_array") and x.requires_grad and x.is_leaf:
                trace = self.trace_here()
                if trace.modules:
                    self.findings.unrecorded.setdefault(id(x), (weakref.ref(x), trace))

    def _look_at_sum(self, inputs: Any, result: Any) -> None:
        """Say so when losses of several passes are added up, each with its graph."""
        seen: frozenset = frozenset()
        findings = self.findings
        for x in inputs:
            node = _node(x)
            if node is not None:
                seen |= findings.sums.get(node, frozenset())
                seen |= {findings.finished[node]} if node in findings.finished else frozenset()
        if not seen:
            return
        findings.sums[_node(result)] = seen
        if len(seen) >= _SUMMED:
            findings.tell(
                "sum",
                f"Here the losses of {len(seen)} backward passes are added up together with their "
                "graphs, which stay in memory. Add loss.item() or loss.detach() instead.",
                self.trace_here().line(),
            )

    # --- backward --------------------------------------------------------------------------------

    def backward_begins(self, walk: Any) -> None:
        findings = self.findings
        findings.n_passes += 1
        for node in [node for _, node in walk.ready]:
            findings.finished[node] = findings.n_passes
        if len(findings.finished) > _MANY:
            findings.tell(
                "held",
                f"{len(findings.finished)} losses are still held after their backward pass, with "
                "their graphs. Keep loss.item(), or loss.detach().",
            )
        super().backward_begins(walk)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        if type(node) is AccumulateGrad:
            leaf = node.leaf()
            old: Any = None if leaf is None else leaf._grad
            used = None if old is None else self.findings.used.get(old)
            if used is not None and old._array.any():
                self.findings.tell(
                    "stale",
                    f"This backward pass adds to gradients that step(){_at(used)} has used "
                    "already. Call optimizer.zero_grad() between the two.",
                    used.line(),
                )
            self.findings.unrecorded.pop(id(leaf), None)
        return super().backward_node(node, function, args)

    # --- steps of optimisers ---------------------------------------------------------------------

    def stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """A hook: an optimiser has made a step."""
        findings = self.findings
        trace = self.trace_here()
        parameters: list[Any] = [p for group in optimizer.param_groups for p in group["params"]]
        for p in parameters:
            if p._grad is not None:
                findings.used[p._grad] = trace
        for name, where in findings.evaluated.items():
            findings.tell(
                "eval",
                f"step() trains {name}, which ran in eval mode{_at(where)}: its dropout was off, "
                "its running statistics stood still. Call train() on it first.",
                name,
            )
        findings.evaluated.clear()
        for ref, where in findings.unrecorded.values():
            leaf: Any = ref()
            if any(leaf is p for p in parameters):
                findings.tell(
                    "no_grad",
                    f"step() trains a parameter {list(leaf.shape)} that was used under no_grad()"
                    f"{_at(where)}, and no gradient has reached it since.",
                    where.line(),
                )
        findings.unrecorded.clear()


def _node(x: Any) -> Any:
    """The operator's node behind a tensor, None for leaves and numbers."""
    edge = edge_of(x) if hasattr(x, "_array") else None
    node = edge.node if type(edge) is Port else edge
    return None if type(node) is AccumulateGrad else node


class lint(_Decorating):
    """Context manager and decorator that warns about training loops inside it.

    It warns, once for each line, with `tapegrad.inspect.LintWarning`, of

    - a backward pass that adds to gradients which a `step()` has used already, because nobody
      called `zero_grad()`;
    - losses that are added up, or kept in a list, together with their graphs;
    - a `step()` for a model that ran in eval mode;
    - a `step()` for parameters that were used under `no_grad()` only.

    Gradients accumulated over several backward passes before one step are fine.

    >>> import warnings
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.1)
    >>> with tapegrad.inspect.lint(), warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     for _ in range(2):
    ...         (w * w).sum().backward()
    ...         optimizer.step()
    >>> print(said[0].message)
    This backward pass adds to gradients that step() at <...>:5 has used already. Call ...
    """

    def __init__(self) -> None:
        self._tokens: list[Any] = []
        self._hooks: list[Any] = []

    def _fresh(self) -> Any:
        return lint()

    def _mode(self) -> Any:
        from tapegrad.optim.optimizer import register_optimizer_step_post_hook

        mode = Lint(MODE.get(), _Findings())
        self._hooks.append(register_optimizer_step_post_hook(mode.stepped))
        return mode

    def __exit__(self, *error: object) -> None:
        self._hooks.pop().remove()
        super().__exit__(*error)
