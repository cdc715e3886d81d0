"""The backward pass, node by node: what comes in, what a node kept, what goes out."""

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop
from textwrap import dedent
from typing import NamedTuple

import numpy as np

from tapegrad.autograd.backward_grad import accumulating, roots_of
from tapegrad.autograd.describe import (
    array_of,
    described,
    input_names,
    maker_of,
    saved_by,
    target_name,
)
from tapegrad.autograd.engine import BackwardPass
from tapegrad.autograd.mode import MODE, switched
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import trace_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, EdgeLike, NodeLike
from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.tensor import Tensor


class Step:
    """One node of a backward pass, about to run or after it has run.

    Attributes:
        number: how many nodes ran before it.
        node: the node, as `grad_fn` gives it.
        name: its name, such as `MulBackward0`.
        received: the gradients that came in, a tensor or None for each output of the operator.
        kept: what the node kept of the forward call, by the names that its rules use.
        sent: the gradients that went out, triples of the name of the input, the node that it goes
            to, and the tensor (of a leaf, what its `.grad` is now); None before the node has run.
        file, line: where the user's code called the operator, if that was inside
            `tapegrad.inspect.watch()` or anomaly mode; else None.
        module: the layer that called it, such as `Net.body.0`, known inside `watch()`; else "".
    """

    def __init__(self, number: int, node: NodeLike, received: tuple):
        self.number, self.node = number, node
        self.name = type(node).__name__
        self._maker = maker_of(node)
        self.received = received
        self.kept = {name: _shown(value) for name, value in saved_by(node).items()}
        self.sent: list[tuple[str, Any, Any]] | None = None
        self._trace = trace = trace_of(node)
        where = None if trace is None else trace.line()
        self.file: str | None = None if where is None else where[0]
        self.line: int | None = None if where is None else where[1]

    @property
    def module(self) -> str:
        """The layer that called the operator; "" where that is not known."""
        return "" if self._trace is None else self._trace.module

    def source(self) -> str:
        """The function that runs the node, as text; its rules are what it calls.

        >>> x = torch.ones(2, requires_grad=True)
        >>> step = tapegrad.inspect.step((x * 2).sum()).next()
        >>> print(step.source().splitlines()[0])
        def SumBackward0(node, g, retain):
        """
        if self.function is None:
            return f"{self.name} adds what it receives to the .grad of a leaf\n"
        return dedent(inspect.getsource(self.function))

    @property
    def function(self) -> Callable | None:
        """The function that runs the node, or the `backward` of a custom function; None: a leaf."""
        if type(self.node) is AccumulateGrad:
            return None
        plan: Any = self._maker.plan
        run = getattr(getattr(plan, "original", plan), "run", None)
        return self.rules.get("backward", run)

    @property
    def rules(self) -> dict[str, Callable]:
        """The derivative rule of each input that a gradient goes to: an ordinary function.

        A custom function has one for all, `"backward"`.

        >>> x = torch.ones(2, requires_grad=True)
        >>> rule = tapegrad.inspect.step(x.tanh().sum()).run(until="tanh").rules["x"]
        >>> rule.__code__.co_varnames
        ('g', 'y')
        """
        if hasattr(self.node, "user_backward"):
            return {"backward": self.node.user_backward()}
        plan: Any = getattr(self._maker, "plan", None)
        if not hasattr(plan, "rules"):
            return {}
        names = input_names(self._maker)
        return {names[i]: rule.function for i, rule in plan.rules}

    def _head(self) -> str:
        where = "" if self.file is None else f"  {self.file}:{self.line}"
        return f"{self.number}  {self.name}{where}{f'  in {self.module}' * bool(self.module)}"

    def _rows(self) -> list[tuple[str, str, str]]:
        """What there is to see: whether it came in, was kept or goes out, its name, its values."""
        rows = [("in", "", described(g)) for g in self.received if g is not None]
        rows += [("kept", name, described(value)) for name, value in self.kept.items()]
        for name, edge, g in self.sent or ():
            rows.append(("out", f"{name} -> {target_name(edge)}", described(g)))
        return rows

    def __repr__(self) -> str:
        lines = [
            f"   {what:4}  {name}{': ' * bool(name)}{text}" for what, name, text in self._rows()
        ]
        return "\n".join([self._head(), *lines])

    def _repr_html_(self) -> str:
        from tapegrad.inspect.notebook import page_table

        return page_table(self._head(), ["", "", ""], self._rows(), n_text=3)


def _shown(value: object) -> Any:
    """A kept value as the user knows it: arrays as tensors."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_shown, value))
    is_array = hasattr(value, "__array_namespace__") and not isinstance(value, Tensor)
    return wrap(value) if is_array else value


Until = str | Callable[["Step"], Any] | Any


def _copied(g: Any) -> Any:
    """A gradient on its way as a tensor of its own: the engine may add to it later."""
    if g is None:
        return None
    return g.detach().clone() if isinstance(g, Tensor) else wrap(g.copy())


class _Watched(BackwardPass):
    """A pass that writes down what the running node sends."""

    sent: list[tuple[Any, Any]] | None = None

    def send(self, edge: EdgeLike, g: Any) -> None:
        if self.sent is not None:
            self.sent.append((edge, _copied(g)))
        super().send(edge, g)


class Stepper:
    """A backward pass that stands before a node until it is told to go on; see `step`."""

    def __init__(
        self,
        tensors: Sequence,
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
            if not (walk.ready or walk.leaves):
                walk.finish()
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
        from tapegrad.inspect.notebook import page_text

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
    tensors: Sequence,
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


BINS = 24
FEW = 9
MOST = 20_000  # elements that a histogram counts, evenly spread over a larger gradient
VANISHING = 1e-5  # of the norm of what came in at the roots
EXPLODING = 1e5


class Flow:
    """A gradient in a few numbers: norm, range, histogram, what is not finite.

    `values` are the numbers themselves, nested as they are, where they are few; else None.
    """

    __slots__ = ("bins", "high", "low", "n", "n_inf", "n_nan", "n_zero", "norm", "shape", "values")

    def __init__(self, g: Any):
        array = np.asarray(array_of(g))
        self.shape = tuple(array.shape)
        is_complex = array.dtype.kind == "c"
        self.values = array.tolist() if array.size <= FEW and not is_complex else None
        values = (np.abs(array) if is_complex else array).ravel()
        self.n = values.size
        self.n_nan = self.n_inf = 0
        self.n_zero = self.n - int(np.count_nonzero(values))
        self.bins: list[int] = []
        self.low, self.high = _range(values)
        if not np.isfinite(self.high - self.low):
            self.n_nan = int(np.isnan(values).sum())
            self.n_inf = int(np.isinf(values).sum())
            values = values[np.isfinite(values)]
            self.low, self.high = _range(values)
        self.norm = _norm(values, max(abs(self.low), abs(self.high)))
        if self.low < self.high and np.isfinite(self.high - self.low):
            sample = values[:: -(-values.size // MOST)].astype(np.float64)
            width = (self.high - self.low) / BINS
            at = ((sample - self.low) / width).astype(np.intp) if width else sample.astype(np.intp)
            self.bins = np.bincount(np.minimum(at, BINS - 1), minlength=BINS).tolist()

    def key(self) -> tuple:
        """Equal for gradients of which the same is known."""
        numbers = (self.norm, self.low, self.high, self.n_nan, self.n_inf, self.n_zero)
        return (*numbers, self.shape, tuple(self.bins), repr(self.values))

    def state(self, start: float) -> str:
        """What stands out, `start` being the norm of the gradient that the pass began with."""
        if self.n_nan:
            return "nan"
        if self.n_inf or self.norm > EXPLODING * max(start, 1e-300):
            return "exploding"
        if not self.norm:
            return "zero" if self.n else ""
        return "vanishing" if self.norm < VANISHING * start else ""


def _range(values: np.ndarray) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _norm(values: np.ndarray, most: float) -> float:
    """The norm of values of which the largest is `most`.

    Where their squares would leave the range of the dtype it is found of values near one.
    """
    if not most:
        return 0.0
    if values.dtype.kind == "f" and values.dtype.itemsize >= 4:
        if 1e-15 < most < 1e18 / values.size:
            return float(np.dot(values, values)) ** 0.5
    return most * float(np.linalg.norm(values.astype(np.float64) / most))


class NodeFlow(NamedTuple):
    """What one node received and sent in a pass, and what it had kept for it.

    `sent` has a Flow, or None, for each edge of the node.
    """

    time: int
    received: list
    sent: list
    kept: list | None = None


def flows_of(g: Any) -> list:
    """What is known of the gradients that reached a node: one for each of its outputs."""
    return [None if x is None else Flow(x) for x in (g if isinstance(g, (list, tuple)) else [g])]


def walk(tensors: Sequence, grad_tensors: Any) -> dict[Any, NodeFlow]:
    """Run the backward pass of `tensors` on the side: by node, what flowed.

    The graph keeps what it holds, no `.grad` changes and no hook of a leaf is called.
    """
    stepper = Stepper(tensors, grad_tensors, True, False)
    state = stepper.walk
    state.waiting = None  # leaves stay where they are
    found: dict[Any, NodeFlow] = {}
    while state.ready:
        hooks = state.ready[0][1].hooks
        retained = None if hooks is None else hooks.retained
        if hooks is not None:
            hooks.retained = {}  # nor do tensors get a gradient that asked to retain it
        try:
            step = stepper.next()
        finally:
            if hooks is not None:
                hooks.retained = retained
        found[step.node] = NodeFlow(len(found), flows_of(step.received), _by_edge(step))
    for leaf in state.leaves:
        found[leaf] = NodeFlow(len(found), flows_of(state.pending[leaf]), [])
    return found


def _by_edge(step: Any) -> list:
    """What a step sent, for each edge of its node."""
    sent: list = [None] * len(step.node.edges)
    waiting = list(step.sent)
    for i, edge in enumerate(step.node.edges):
        if waiting and edge is not None and waiting[0][1] is edge:
            sent[i] = Flow(waiting.pop(0)[2])
    return sent


def start_of(flows: dict[Any, NodeFlow], roots: list) -> float:
    """The norm of the gradients that a pass began with."""
    norms = [f.norm for node in roots if node in flows for f in flows[node].received if f]
    return float(np.sqrt(sum(norm**2 for norm in norms))) if norms else 1.0
