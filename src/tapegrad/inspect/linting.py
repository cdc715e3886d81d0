"""Lint: warnings about training loops that run and do not learn what they should."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from tapegrad.autograd.mode import MODE, _Decorating
from tapegrad.autograd.node import AccumulateGrad, node_of
from tapegrad.autograd.trace import Trace, Tracing, n_own_frames, place, trace_of
from tapegrad.autograd.view import edge_of
from tapegrad.core.annotations import Callable, ModeLike, NodeLike, OptimizerLike, Sequence, Tensor
from tapegrad.dispatch.op import Op
from tapegrad.inspect.watching import ById
from tapegrad.optim.optimizer import register_optimizer_step_post_hook

_MANY = 20  # graphs that may be alive after their backward pass, or of a model in eval mode
_SUMMED = 3  # passes of which the losses may be added up


class LintWarning(UserWarning):
    """Something in a training loop that is seldom meant."""


class _Findings:
    """What was seen of a loop; shared by the modes that `no_grad` and the like make of one."""

    def __init__(self) -> None:
        self.told: set[tuple] = set()  # each thing is said once for each line
        self.used: ById = ById()  # by gradient: where a step used it
        self.stale: ById = ById()  # by gradient: where a step used it, and which pass added to it
        self.n_passes = 0
        self.finished: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        # by node that a pass began at: the number of the last such pass
        self.ran: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        # by node: the number of the last pass that ran it
        self.sums: weakref.WeakKeyDictionary[Any, frozenset] = weakref.WeakKeyDictionary()
        # by node of a sum: the passes of the losses that are in it
        self.in_eval: weakref.WeakKeyDictionary[Any, tuple] = weakref.WeakKeyDictionary()
        # by node that a model in eval mode made: the model's name, the number of its call
        self.evaluated: weakref.WeakKeyDictionary[Any, tuple] = weakref.WeakKeyDictionary()
        # by leaf: through which model in eval mode its gradient came, and where that was called
        self.unrecorded: dict[int, tuple[weakref.ref, Trace]] = {}  # leaves used under no_grad

    def tell(self, kind: str, text: str, place: Any = None) -> None:
        if (kind, place) not in self.told:
            self.told.add((kind, place))
            warnings.warn(text, LintWarning, stacklevel=n_own_frames() + 1)

    def has_told(self, kind: str) -> bool:
        return any(told == kind for told, _ in self.told)


class Lint(Tracing):
    """Looks for such things, on top of another mode."""

    __slots__ = ("findings", "models", "trace")
    given = ("findings",)
    findings: _Findings

    def __init__(self, under: ModeLike, findings: _Findings):
        super().__init__(under, findings)
        self.trace: Trace | None = None  # where the backward pass that runs in this mode was called
        self.models: dict[str, Trace] = {}  # models in eval mode that it has gone through

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = super().call(name, function, args, kwargs)
        op, inputs, _ = args
        if isinstance(op, Op):
            if self.grad:
                self._look_at_model(result)
                if op.name.startswith("add"):
                    self._look_at_sum(inputs, result)
            else:
                for x in inputs:
                    if hasattr(x, "_array") and x.requires_grad and x.is_leaf:
                        trace = self.trace_here()
                        if trace.modules:
                            self.findings.unrecorded.setdefault(id(x), (weakref.ref(x), trace))
        return result

    def _look_at_model(self, result: object) -> None:
        """Remember what a model in eval mode records."""
        node = _node(result)
        trace = None if node is None else trace_of(node)  # noted when the node was made
        calls = [] if trace is None else trace.calls
        if trace is None or not calls or calls[-1][0].training:
            return
        findings, name = self.findings, type(calls[-1][0]).__name__
        known = len(findings.in_eval)
        findings.in_eval[node] = name, calls[-1][1]
        if known >= _MANY and not findings.has_told("evaluation"):
            n = len(set(findings.in_eval.values()))
            if n > _MANY:
                findings.tell(
                    "evaluation",
                    f"The graphs of {n} calls of {name} in eval mode are held, and no backward "
                    "pass has gone through them. Evaluate under torch.no_grad().",
                )

    def _look_at_sum(self, inputs: Sequence, result: object) -> None:
        """Say so when losses of several passes are added up, each with its graph."""
        seen: frozenset = frozenset()
        findings = self.findings
        for x in inputs:
            node = _node(x)
            if node is None:
                continue
            seen |= findings.sums.get(node, frozenset())
            for edge in (node, *node.edges):  # a loss, or one that was scaled
                each = node_of(edge)
                if each is not None and each in findings.finished:
                    seen |= {findings.finished[each]}
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
        self.trace = self.trace_here()
        findings = self.findings
        if not findings.has_told("held"):
            n = len(set(findings.ran.values()))
            if n > _MANY:
                findings.tell(
                    "held",
                    f"The graphs of {n} backward passes are still held, by their losses or by "
                    "other results. Keep loss.item(), or loss.detach().",
                )
        findings.n_passes += 1
        for _, node in walk.ready:
            findings.finished[node] = findings.n_passes
        super().backward_begins(walk)

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
        findings = self.findings
        if type(node) is not AccumulateGrad:
            findings.ran[node] = findings.n_passes
            model = findings.in_eval.pop(node, None)
            trace = trace_of(node)
            if model is not None and trace is not None:
                self.models.setdefault(model[0], trace)
            return super().backward_node(node, function, args)
        leaf = node.leaf()
        old: Any = None if leaf is None else leaf._grad
        fresh = old is None or not old._array.any()
        stale = None if fresh else self._staleness(old)
        if fresh:
            findings.evaluated.pop(node, None)
            if old is not None:  # zeros in place of what a step has used
                findings.used[old] = None
        result = super().backward_node(node, function, args)
        if leaf is not None and leaf._grad is not None:
            findings.stale[leaf._grad] = stale
            findings.unrecorded.pop(id(leaf), None)
        if self.models:
            findings.evaluated[node] = next(iter(self.models.items()))
        return result

    def _staleness(self, grad: Tensor) -> tuple | None:
        """Where a step has used what a gradient already holds, and which pass adds to that."""
        used = self.findings.used.get(grad)
        if used is not None:
            return used, self.trace
        return self.findings.stale.get(grad)

    # --- steps of optimisers ---------------------------------------------------------------------

    def stepped(self, optimizer: OptimizerLike, args: Sequence, kwargs: Any) -> None:
        """A hook: an optimiser has made a step."""
        findings = self.findings
        trace = self.trace_here()
        parameters: list[Any] = [p for group in optimizer.param_groups for p in group["params"]]
        for p in parameters:
            if p._grad is not None:
                self._look_at_step(p)
                findings.used[p._grad] = trace
        for ref, where in findings.unrecorded.values():
            leaf: Any = ref()
            if any(leaf is p for p in parameters):
                findings.tell(
                    "no_grad",
                    f"step() trains a parameter {list(leaf.shape)} that was used under no_grad()"
                    f"{place(where)}, and no gradient has reached it since.",
                    where.line(),
                )
        findings.unrecorded.clear()

    def _look_at_step(self, p: Any) -> None:
        """Say so when a step uses a gradient that it should not."""
        findings = self.findings
        stale = findings.stale.get(p._grad)
        if stale is not None:
            used, added = stale
            findings.stale[p._grad] = None
            findings.tell(
                "stale",
                f"The backward pass{place(added)} added to gradients that step(){place(used)} had "
                "used already, and this step() uses the sum. Call optimizer.zero_grad() between "
                "the two.",
                used.line(),
            )
        name, where = findings.evaluated.pop(p._node, (None, None))
        if where is not None:
            findings.tell(
                "eval",
                f"step() trains {name}, which ran in eval mode{place(where)}: its dropout was off, "
                "its running statistics stood still. Call train() on it first.",
                name,
            )


def _node(x: object) -> Any:
    """The operator's node behind a tensor, None for leaves and numbers."""
    node = node_of(edge_of(x)) if hasattr(x, "_array") else None
    return None if type(node) is AccumulateGrad else node


class lint(_Decorating):
    """Context manager and decorator that warns about training loops inside it.

    It warns, once for each line, with `tapegrad.inspect.LintWarning`, of

    - a `step()` on gradients that hold what another `step()` has used already, because nobody
      called `zero_grad()` between their backward passes;
    - losses that are added up, or kept, together with their graphs;
    - a `step()` for a model that ran in eval mode, and evaluation that keeps graphs;
    - a `step()` for parameters that were used under `no_grad()` only.

    Gradients accumulated over several backward passes before one step are fine, and so are those
    that an optimiser leaves to others, as the two of an adversarial pair.

    >>> import warnings
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.1)
    >>> with tapegrad.inspect.lint(), warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     for _ in range(2):
    ...         (w * w).sum().backward()
    ...         optimizer.step()
    >>> print(said[0].message)
    The backward pass at <...>:4 added to gradients that step() at <...>:5 had used already, ...
    """

    def __init__(self) -> None:
        self._tokens: list[Any] = []
        self._hooks: list[Any] = []

    def _fresh(self) -> Any:
        return lint()

    def _mode(self) -> Any:
        mode = Lint(MODE.get(), _Findings())
        self._hooks.append(register_optimizer_step_post_hook(mode.stepped))
        return mode

    def __exit__(self, *error: object) -> None:
        self._hooks.pop().remove()
        super().__exit__(*error)
