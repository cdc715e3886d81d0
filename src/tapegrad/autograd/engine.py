"""The backward pass: gradients from the roots of a graph to its leaves.

    take the youngest node that has a gradient     every node is younger than its inputs, so all
    run its rules                                  that feeds it has run: no counting needed
    add the results to what its inputs have
    free what it saved, unless `retain_graph`

Without `create_graph` the gradients on the way are plain arrays, wrapped only for hooks; with it
they are tensors, and the same rules record a graph of their own.
"""

from contextvars import ContextVar, copy_context
from heapq import heappop, heappush, heappushpop
from threading import Thread

from numpy import ndarray

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.autograd.accumulate import accumulate, collected
from tapegrad.autograd.errors import freed
from tapegrad.autograd.hooks import call_after_accumulation, call_hooks, call_tensor_hooks
from tapegrad.autograd.mode import EVERYWHERE, MODE, Mode, switched
from tapegrad.autograd.node import AccumulateGrad, MultiNode, Port
from tapegrad.autograd.plan import Plan
from tapegrad.autograd.reachable import count_leaf_edges, nodes_needed, reachable
from tapegrad.autograd.sum_to_size import restored
from tapegrad.core import tensor_base
from tapegrad.core.annotations import Any, Array, EdgeLike, ModeLike, NodeLike, Sequence
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.tensor_base import SPARSE

BACKWARD_PASS: ContextVar[Any] = ContextVar("tapegrad_backward_pass", default=None)
"""The pass that is running, the innermost one; None where none is."""

_DEEP = 16
"""So many passes within one another share a thread: each takes a dozen of Python's 1000 frames."""


def run_backward(
    roots: list[tuple[Any, Any]],
    *,
    retain_graph: bool,
    create_graph: bool,
    inputs: list[Any] | None = None,
    accumulate_inputs: bool = False,
    inputs_alone: bool = False,
) -> list[Any]:
    """Walk the graph from `roots`, pairs (edge, cotangent), youngest node first.

    With `inputs`, edges, only what leads to them runs; their gradients are returned, or added to
    their `.grad` with `accumulate_inputs`. Without, leaves accumulate into `.grad`. `inputs_alone`
    says that the inputs are all the leaves there are.
    """
    mode = switched(create_graph)
    token = MODE.set(mode)
    try:
        backward = BackwardPass(
            mode, roots, retain_graph, create_graph, inputs, accumulate_inputs, inputs_alone
        )
        outer = BACKWARD_PASS.get()
        running = BACKWARD_PASS.set(backward)
        try:
            if outer is None:
                backward.run()
            else:
                backward.run_within(outer)
            if backward.callbacks:
                backward.finish()
        finally:
            BACKWARD_PASS.reset(running)
        if inputs is None:
            return []
        return [backward.found.get(_key(edge)) for edge in inputs]
    finally:
        MODE.reset(token)


def _key(edge: EdgeLike) -> tuple[Any, int]:
    return (edge.node, edge.index) if type(edge) is Port else (edge, 0)


def _any(gradients: list) -> bool:
    return any(g is not None for g in gradients)


class BackwardPass:
    """The state of one backward pass."""

    wanted: dict[tuple[Any, int], Any] = {}  # noqa: RUF012  (replaced, never changed)
    needed: set[Any] | None = None  # the nodes that run, where some do not
    restricted = False  # whether gradients of some tensors were asked for
    keep = True  # gradients of leaves go to .grad
    waiting: dict[Any, int] | None = None  # edges still to come, for leaves with hooks
    reachable: Any = None  # all nodes behind the roots, once somebody has asked
    depth = 0  # within how many other passes it runs

    def __init__(
        self,
        mode: ModeLike,
        roots: list[tuple[Any, Any]],
        retain_graph: bool,
        create_graph: bool,
        inputs: list[Any] | None = None,
        accumulate_inputs: bool = False,
        inputs_alone: bool = False,
    ):
        for each in EVERYWHERE:
            mode = each.mode_over(mode)
        self.mode = mode if isinstance(mode, Mode) else None  # a mode that wants to see nodes run
        self.retain_graph = retain_graph
        # whether gradients are tensors: those that are recorded, and those that a mode looks at
        self.create_graph = create_graph or (self.mode is not None and self.mode.on_tensors)
        self.pending: dict[Any, Any] = {}  # node -> gradient, or list of them by output
        self.summed: set[Any] = set()  # nodes whose gradient is a sum nobody else holds
        self.ready: list[tuple[int, Any]] = []  # heap of (-sequence, node)
        self.leaves: list[AccumulateGrad] = []  # in the order they were reached
        self.found: dict[tuple[Any, int], Any] = {}
        self.callbacks: list[Any] = []  # to be called at the end
        self.roots = roots
        if inputs is not None:
            self.restricted = True
            self.wanted = {_key(edge): edge for edge in inputs}
            if not inputs_alone:
                self.needed = nodes_needed([edge for edge, _ in roots], inputs)
                if accumulate_inputs and self.needed is not None:  # what made them runs, too
                    nodes = {_key(edge)[0] for edge in inputs}
                    self.needed |= {x for x in nodes if type(x) is not AccumulateGrad}
            self.keep = accumulate_inputs
        if AccumulateGrad.hooked:
            self.waiting = count_leaf_edges([edge for edge, _ in roots], self.needed) or None
        for edge, g in roots:
            self.send(edge, self._wrap(g) if self.create_graph else g)
        if self.mode is not None:
            self.mode.backward_begins(self)

    def run(self) -> None:
        """Run the youngest node that has a gradient until no node has one; then the leaves."""
        timed = None if self.mode is None else self.mode.runner()
        if not self.create_graph and self.needed is None and (self.mode is None or timed):
            self._run_plainly(timed)
        while self.ready:
            _, node = heappop(self.ready)
            self._run_node(node, self.pending.pop(node))
        leaves, self.leaves = self.leaves, []
        general = self.restricted or self.mode is not None
        for leaf in leaves:
            if general or leaf.hooks is not None:
                self._finish_leaf(leaf)
                continue
            variable = leaf.leaf()
            pending = [self.pending.pop(leaf)]
            if variable is not None and variable._node is not None:
                accumulate(variable, pending, self.create_graph)

    def finish(self) -> None:
        """Call what was queued for the end of the pass."""
        for callback in self.callbacks:  # one may queue another
            callback()

    def run_within(self, outer: Any) -> None:
        """`run` inside another pass: some way down in another thread, which has a fresh stack."""
        self.depth = outer.depth + 1
        if self.depth % _DEEP:
            self.run()
            return
        failed: list[BaseException] = []
        context = copy_context()

        def work() -> None:
            try:
                context.run(self.run)
            except BaseException as error:
                failed.append(error)

        thread = Thread(target=work, name="tapegrad backward")
        thread.start()
        thread.join()
        if failed:
            raise failed[0]

    def send(self, edge: EdgeLike, g: Array) -> None:
        """Add a gradient to what `edge` has so far."""
        if type(edge) is Port:
            self._send_to_port(edge, g)
            return
        pending = self.pending
        old = pending.get(edge)
        if old is not None:
            self._add(edge, old, g)
        else:
            pending[edge] = g
            if type(edge) is AccumulateGrad:
                self.leaves.append(edge)
            else:
                heappush(self.ready, (-edge.sequence, edge))
        if self.waiting is not None and edge in self.waiting:
            self._arrived(edge)

    def _add(self, edge: EdgeLike, old: Any, g: Array) -> None:
        if type(old) is list:  # that nothing had come
            self.pending[edge] = g
        elif SPARSE and (isinstance(old, SPARSE[0]) or isinstance(g, SPARSE[0])):
            if isinstance(old, SPARSE[0]) and not isinstance(g, SPARSE[0]):
                old, g = g, old
            self.pending[edge] = self._unwrap(self._wrap(old) + self._wrap(g))
        elif self.create_graph or getattr(old, "shape", None) != g.shape or old.dtype != g.dtype:
            self.pending[edge] = old + g
        elif edge in self.summed:
            old += g
        else:
            self.pending[edge] = total = collected(old, g)
            if total is not None:
                self.summed.add(edge)

    def _send_to_port(self, port: Port, g: Array) -> None:
        node = port.node
        slots = self.pending.get(node)
        if slots is None:
            slots = self.pending[node] = [None] * node.n_outputs
            heappush(self.ready, (-node.sequence, node))
        old = slots[port.index]
        slots[port.index] = g if old is None else old + g

    def _send_nothing(self, edge: EdgeLike) -> None:
        """Let custom functions and hooks behind `edge` run, whether or not a gradient reaches them.

        Functions that another one gave None are given zeros, or None if that is what they want;
        hooks are given None.
        """
        stack, seen = [edge], set()
        while stack:
            edge = stack.pop()
            node = edge.node if type(edge) is Port else edge
            if node is None or node in seen or node in self.pending or not self._leads(edge):
                continue
            seen.add(node)
            custom = isinstance(node, MultiNode) and node.output_metadata is None
            if custom or node.hooks is not None:
                self.pending[node] = [None] * node.n_outputs
                if type(node) is AccumulateGrad:
                    self.leaves.append(node)
                else:
                    heappush(self.ready, (-node.sequence, node))
            else:
                stack.extend(node.edges)

    def _arrived(self, leaf: AccumulateGrad) -> None:
        self.waiting[leaf] -= 1  # type: ignore[index]
        if self.waiting[leaf] == 0:  # type: ignore[index]
            self.leaves.remove(leaf)
            self._finish_leaf(leaf)

    def _run_node(self, node: NodeLike, g: Array) -> None:
        """Run one node in general: with hooks, several outputs, on tensors, or under a mode."""
        many = isinstance(node, MultiNode)  # its gradients come as a list, be it of one
        listed = many or type(g) is list
        needed = self.needed
        if listed or node.hooks is not None or not (needed is None or node in needed):
            nothing = listed and (not many or node.output_metadata is None or not _any(g))
            grads = self._run_with_hooks(node, g if listed else [g], many)
        else:
            nothing = False
            if self.wanted:
                self._capture(node, [g])
            grads = self._applied(node, g)
        for edge, result in zip(node.edges, grads, strict=False):
            if edge is None:
                continue
            if result is None:
                if nothing:
                    self._send_nothing(edge)
            elif needed is None or self._leads(edge):
                self.send(edge, result)

    def _run_with_hooks(self, node: NodeLike, outputs: list, many: bool) -> Any:
        """The gradients of the inputs of a node from those of its outputs; hooks may change both.

        There are none where the node is only looked at: what arrives at it was asked for.
        """
        hooks = node.hooks
        needed = self.needed is None or node in self.needed
        if needed:  # what is captured on the way is what arrived, before hooks changed it
            self._capture(node, outputs)
        if hooks is not None:
            outputs = self._tensor_hooks(node, outputs)
        if not needed:
            self._capture(node, outputs)
            return ()
        if hooks is not None and hooks.pre:
            outputs = self._pre_hooks(node, outputs)
        g: Any = None
        if _any(outputs) or (many and node.output_metadata is None):
            g = self._filled(node, outputs) if many else outputs[0]
        grads = self._applied(node, g)
        if hooks is not None and hooks.post:
            grads = self._post_hooks(node, grads, outputs)
        return grads

    def _applied(self, node: NodeLike, g: Any) -> Any:
        """What the rules of a node make of a gradient, or of None; what it saved is freed."""
        if node.saved is None:
            raise freed(node)
        if g is None:
            grads: Any = (None,) * len(node.edges)
        elif self.mode is not None:
            grads = self.mode.backward_node(node, self._rules, (node, g))
        else:
            grads = self._rules(node, g)
        if not self.retain_graph and node.plan.saves_tensors:
            node.saved = None
        return grads

    def _rules(self, node: NodeLike, g: Array) -> Any:
        plan = node.plan
        leads = (self._leads,) if self.needed is not None and type(plan) is Plan else ()
        if not self.create_graph:
            return plan.gradients(node, g, *leads)
        grads = plan.run_on_tensors(node, g, *leads)
        return grads if node.restore is None else restored(grads, node.restore)

    def _leads(self, edge: EdgeLike) -> bool:
        """Whether a gradient that was asked for lies behind an edge, or is there."""
        needed = self.needed
        if needed is None or edge in needed:
            return True
        return (type(edge) is Port and edge.node in needed) or _key(edge) in self.wanted

    def _filled(self, node: NodeLike, g: list) -> list:
        """Zeros for outputs that no gradient has reached."""
        if node.output_metadata is None or not node.fills or all(x is not None for x in g):
            return g
        there = [x for x in g if x is not None]
        xp = TENSOR_NAMESPACE() if self.create_graph else namespace_of(there)
        where = {"device": there[0].device} if self.create_graph and there else {}
        return [
            xp.zeros(like.shape, dtype=like.dtype, **where) if x is None else x
            for x, like in zip(g, node.output_metadata, strict=True)
        ]

    def _capture(self, node: NodeLike, outputs: list) -> None:
        for index, g in enumerate(outputs):
            if g is not None and (node, index) in self.wanted:
                self.found[node, index] = self._wrap(g)

    # --- the same loop for nodes without hooks, on arrays -----------------------------------------

    def _run_plainly(self, timed: Any) -> None:
        """`run`, with `send` written out in it: half of what a small node costs is its edges."""
        ready, pending, summed, leaves = self.ready, self.pending, self.summed, self.leaves
        retain, waiting = self.retain_graph, self.waiting
        node = None  # the youngest node known to be ready but not in the heap: most often the next
        while True:
            if node is None:
                if not ready:
                    break
                node = heappop(ready)[1]
            elif ready:
                node = heappushpop(ready, (-node.sequence, node))[1]
            g = pending.pop(node)
            if node.hooks is not None or type(g) is list:
                self._run_node(node, g)
                node = None
                continue
            # an edge, its gradient, an edge, ...
            if timed is None:
                flow = iter(node.plan.run(node, g, retain))
            else:
                flow = iter(timed(node, g, retain))
            following = None
            for edge, g in zip(flow, flow):  # noqa: B905  (a keyword costs 60 ns)
                if edge is None or g is None:
                    continue
                old = pending.get(edge)
                if old is not None:
                    if edge in summed and waiting is None and type(g) is ndarray:
                        old += g
                    else:
                        self.send(edge, g)
                    continue
                kind = type(edge)
                if kind is Port or (kind is AccumulateGrad and waiting is not None):
                    self.send(edge, g)
                elif kind is AccumulateGrad:
                    pending[edge] = g
                    leaves.append(edge)
                else:
                    pending[edge] = g
                    if following is None:
                        following = edge
                    else:
                        heappush(ready, (-edge.sequence, edge))
            node = following

    # --- leaves ---------------------------------------------------------------------------------

    def _finish_leaf(self, leaf: AccumulateGrad) -> None:
        pending = [self.pending.pop(leaf)]  # alone holds it: it may become .grad as it is
        if type(pending[0]) is list:
            pending[0] = None
        hooks = leaf.hooks
        if (hooks is not None or self.restricted) and not self._passes(leaf, pending):
            return
        variable = leaf.leaf()
        if variable is None and hooks is not None:
            variable = leaf.variable
        if variable is None or variable._node is None:
            return  # the leaf has gone, or stopped requiring grad after it was used
        if pending[0] is None:
            if hooks is not None:
                self._after_leaf(leaf, variable, None)
            return
        if hooks is None and self.mode is None:
            accumulate(variable, pending, self.create_graph)
            return
        first = variable._grad is None
        arrived = pending[0] if hooks is not None and hooks.post and not first else None
        args = (variable, pending, self.create_graph)
        if self.mode is not None:
            self.mode.backward_node(leaf, accumulate, args)
        else:
            accumulate(*args)
        if hooks is not None:  # they see the first gradient as `.grad` has it, and may write to it
            self._after_leaf(leaf, variable, self._unwrap(variable._grad) if first else arrived)

    def _after_leaf(self, leaf: AccumulateGrad, variable: Any, given: Any) -> None:
        for hook in list(leaf.hooks.accumulated.values()):
            call_after_accumulation(hook, variable)
        if leaf.hooks.post:
            self._post_hooks(leaf, (), [given])

    def _passes(self, leaf: AccumulateGrad, pending: list) -> bool:
        """Whether what arrived at a leaf goes on to `.grad`; hooks may change it in `pending`."""
        hooks = leaf.hooks
        if hooks is not None and hooks.tensor:
            pending[0] = self._tensor_hooks(leaf, pending)[0]
        if (leaf, 0) in self.wanted:
            if not self.keep:
                self.found[leaf, 0] = self._wrap(pending[0])
                return False
        elif self.needed is not None:
            return False
        if hooks is not None and hooks.pre:
            pending[0] = self._pre_hooks(leaf, pending)[0]
        return True

    # --- hooks: they see tensors, whatever the gradients on the way are ---------------------------

    def _wrap(self, g: Array) -> Any:
        return g if g is None or isinstance(g, tensor_base.Tensor) else tensor_base.wrap(g)

    def _unwrap(self, g: Array) -> Any:
        if g is None or self.create_graph or g.is_sparse:
            return g
        return resolved(g._array)

    def _tensor_hooks(self, node: NodeLike, g: list) -> list:
        """Hooks on the tensors a node made, then their `.grad` where it was asked for."""
        token = BACKWARD_PASS.set(self)
        try:
            found = call_tensor_hooks(node.hooks, [self._wrap(x) for x in g])
        except Exception as error:
            self._hook_failed(node, g, error)
            raise
        finally:
            BACKWARD_PASS.reset(token)
        return [self._unwrap(x) for x in found]

    def _hook_failed(self, node: NodeLike, g: list, error: Exception) -> None:
        if self.mode is not None:
            self.mode.hook_failed(node, g, error)

    def will_run(self, node: NodeLike) -> bool:
        """Whether the hooks on the tensors that `node` made are called in this pass."""
        if self.reachable is None:
            self.reachable = frozenset(reachable([edge for edge, _ in self.roots]))
        if node not in self.reachable:
            return False
        if self.needed is None or node in self.needed:
            return True
        return any(wanted is node for wanted, _ in self.wanted)

    def _pre_hooks(self, node: NodeLike, g: list) -> list:
        token = BACKWARD_PASS.set(self)
        try:
            found = call_hooks(node.hooks.pre, tuple(map(self._wrap, g)))
        except Exception as error:
            self._hook_failed(node, g, error)
            raise
        finally:
            BACKWARD_PASS.reset(token)
        return [self._unwrap(x) for x in found]

    def _post_hooks(self, node: NodeLike, grads: Sequence, g: list) -> list:
        values = [
            None if edge is None else self._wrap(x)
            for x, edge in zip(grads, node.edges, strict=False)
        ]
        try:
            found = call_hooks(node.hooks.post, tuple(values), tuple(map(self._wrap, g)))
        except Exception as error:
            self._hook_failed(node, g, error)
            raise
        return [self._unwrap(x) for x in found]
