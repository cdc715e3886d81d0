"""The backward pass, node by node: what comes in, what a node kept, what goes out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from heapq import heappop
from typing import Any

from tapegrad.autograd.backward_grad import accumulating, roots_of
from tapegrad.autograd.describe import input_names
from tapegrad.autograd.engine import BackwardPass
from tapegrad.autograd.mode import MODE, switched
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import trace_of
from tapegrad.core import errors
from tapegrad.core.tensor_base import wrap
from tapegrad.inspect.node_step import Step
from tapegrad.tensors.tensor import Tensor

Until = str | Callable[["Step"], Any] | Any


def _copied(g: Any) -> Any:
    """A gradient on its way as a tensor of its own: the engine may add to it later."""
    if g is None:
        return None
    return g.detach().clone() if isinstance(g, Tensor) else wrap(g.copy())


class _Watched(BackwardPass):
    """A pass that writes down what the running node sends."""

    sent: list[tuple[Any, Any]] | None = None

    def send(self, edge: Any, g: Any) -> None:
        if self.sent is not None:
            self.sent.append((edge, _copied(g)))
        super().send(edge, g)


class Stepper:
    """A backward pass that stands before a node until it is told to go on; see `step`."""

    def __init__(
        self,
        tensors: Any,
        grad_tensors: Any,
        retain_graph: bool | None,
        create_graph: bool,
        inputs: Any = None,
    ):
        roots = roots_of(tensors, grad_tensors, create_graph)
        keep = create_graph if retain_graph is None else retain_graph
        self._mode = switched(create_graph)
        edges = None if inputs is None else accumulating(inputs)
        self.walk = _Watched(self._mode, roots, keep, create_graph, edges, True)
        self._n = 0
        self._stopped: tuple[int, Any] | None = None  # before which node, by which `until`
        self._failed = False

    @property
    def upcoming(self) -> Step | None:
        """The node that runs next, as it stands; None at the end."""
        walk = self.walk
        if self._failed or not (walk.ready or walk.leaves):
            return None
        node = walk.ready[0][1] if walk.ready else walk.leaves[0]
        g = walk.pending[node]
        return Step(self._n, node, tuple(map(_copied, g if type(g) is list else [g])))

    def next(self) -> Step:
        """Run one node; returns it with what it sent.

        Raises:
            RuntimeError: every node has run, or one has failed; and what a node raises.
        """
        step = self.upcoming
        if step is None:
            raise errors.runtime_error(
                "the backward pass has ended" + " with an error" * self._failed,
                "Compute the forward pass again and begin with a new step(...).",
            )
        walk = self.walk
        walk.sent = sent = list[tuple[Any, Any]]()
        token = MODE.set(self._mode)
        try:
            if walk.ready:
                heappop(walk.ready)
                walk._run_node(step.node, walk.pending.pop(step.node))
            else:
                walk._finish_leaf(walk.leaves.pop(0))
        except BaseException:
            self._failed = True
            raise
        finally:
            walk.sent = None
            MODE.reset(token)
        if type(step.node) is AccumulateGrad:
            leaf = step.node.leaf()
            step.sent = [] if leaf is None else [(".grad", step.node, _copied(leaf._grad))]
            self._n += 1
            return step
        names = [n for n, edge in zip(input_names(step.node), step.node.edges, strict=True) if edge]
        if len(names) != len(sent):  # a gradient that is None is not sent
            names = [str(i) for i in range(len(sent))]
        step.sent = [(name, edge, g) for name, (edge, g) in zip(names, sent, strict=True)]
        self._n += 1
        return step

    def run(self, until: Until = None) -> Step | None:
        """Run nodes until one that is wanted comes up, and stop before it; without, to the end.

        `until` is the name of a node, with or without "Backward0" ("mul" finds `MulBackward0`); a
        node; a module, or its name as in `Step.module`, of which a part from the left is enough; or
        a function that is given each step before it runs and says whether to stop. Where it
        stands before such a node already, by the same `until`, it goes on to the next one. Returns
        the step before which it stopped, None at the end.

        >>> x = torch.ones(2, requires_grad=True)
        >>> walk = tapegrad.inspect.step((x.tanh() * x.tanh()).sum())
        >>> while walk.run(until="tanh"):
        ...     print(walk.upcoming.name)
        TanhBackward0
        TanhBackward0
        """
        wanted = _condition(until)
        if until is not None and self._stopped == (self._n, until):
            self.next()
        while (step := self.upcoming) is not None:
            if wanted(step):
                self._stopped = self._n, until
                return step
            self.next()
        return None

    def debug(self, debugger: Any = None) -> Step:
        """Run one node under `pdb`, which stands at the first line of what runs it.

        That is the function which calls the rules of its inputs (`step` goes into them), with
        `create_graph` a rule itself, or the `backward` of a custom function. `debugger` is another
        `pdb.Pdb` than a new one. Raises what `next()` raises.
        """
        from pdb import Pdb

        step = self.upcoming
        if step is None or step.function is None:
            return self.next()
        debugger = Pdb(nosigint=True) if debugger is None else debugger
        for function in step.rules.values() if self.walk.create_graph else [step.function]:
            code = function.__code__
            name = None if code.co_name == "<lambda>" else code.co_name
            debugger.set_break(code.co_filename, code.co_firstlineno, True, None, name)
        debugger.reset()
        debugger.botframe = sys._getframe()  # runs on from here to the breakpoint
        debugger.set_continue()
        before = sys.gettrace()
        sys.settrace(debugger.trace_dispatch)
        try:
            return self.next()
        finally:
            sys.settrace(before)

    def __iter__(self) -> Iterator[Step]:
        """Run node after node to the end, each given after it has run."""
        while self.upcoming is not None:
            yield self.next()

    def __repr__(self) -> str:
        step = self.upcoming
        return f"before {step}" if step is not None else f"at the end, after {self._n} nodes"

    def _repr_html_(self) -> str:
        from tapegrad.inspect.rich import page_text

        step = self.upcoming
        return page_text(repr(self)) if step is None else step._repr_html_()


def _condition(until: Until) -> Callable[[Step], Any]:
    if until is None:
        return lambda step: False
    if isinstance(until, str):
        word = until.lower()

        def named(step: Step) -> bool:
            plain = step.name.rstrip("0123456789").removesuffix("Backward").lower()
            inside = f"{step.module}.".startswith(f"{until}.") or f".{until}." in f".{step.module}."
            return word in (step.name.lower(), plain) or bool(step.module and inside)

        return named
    if hasattr(until, "next_functions"):
        return lambda step: step.node is until
    if hasattr(until, "named_modules"):

        def within(step: Step) -> bool:
            trace = trace_of(step.node)
            return trace is not None and any(module is until for module in trace.modules)

        return within
    if callable(until):
        return until
    raise errors.type_error(
        f"until must be a name, a node, a module or a function, not {until!r}",
        "For a node by its number write run(until=lambda step: step.number == 3).",
    )


def step(
    tensors: Any,
    grad_tensors: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> Stepper:
    """Walk the backward pass of `tensors` node by node: as `backward()`, but under your hand.

    Nothing has run when it returns. `upcoming` shows the node that runs next, `next()` runs it,
    `run(until=...)` runs up to a node, a layer or a condition, a loop over it runs all. In between
    you may look at everything, in a script, in a notebook or at the prompt of `pdb`, and step into
    any rule. The gradients end in `.grad` of the leaves as usual.

    Args:
        tensors: where to start: a tensor or several.
        grad_tensors: for each its cotangent, of the same shape; None for scalars.
        retain_graph: keep what the graph holds for another pass (default: `create_graph`).
        create_graph: make the gradients themselves differentiable.
        inputs: accumulate into these tensors only; what does not lead to them does not run.

    Raises:
        RuntimeError: as `backward()` does: there is no graph, or a cotangent is missing.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> y = (x * x).sum()
    >>> for each in tapegrad.inspect.step(y, retain_graph=True):
    ...     print(each)
    0  SumBackward0
       in    [] float32, all 1
       kept  x_like: [2] float32, not its values
       out   x -> MulBackward0: [2] float32, all 1
    1  MulBackward0
    ...
    >>> walk = tapegrad.inspect.step(y)
    >>> walk.run(until="mul").received
    (tensor([1., 1.]),)
    >>> x.grad
    tensor([2., 4.])
    """
    return Stepper(tensors, grad_tensors, retain_graph, create_graph, inputs)
