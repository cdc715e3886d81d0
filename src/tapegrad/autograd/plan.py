"""Plans: what a node saves and how it runs, worked out once for each operator and kind of call.

A rule's parameters are what the graph saves: `xp`, `g` (cotangent), `y` (output), inputs, keywords
and outputs by name, `x_like` (shape and dtype of `x`). A `Plan` holds, for one pattern of inputs
that require grad, which of these a node saves, and two ways to run the rules: on arrays (a function
composed once, the fast path) and on tensors, when the derivative itself must be differentiable.
"""

from __future__ import annotations

from math import prod

from tapegrad.arrays.namespaces import is_batched, namespace_of
from tapegrad.autograd.errors import freed
from tapegrad.autograd.mode import EVERYWHERE
from tapegrad.autograd.node import (
    AccumulateGrad,
    MultiNode,
    OperatorNode,
    PairNode,
    Port,
    TupleNode,
    counter_of,
    version_of,
)
from tapegrad.autograd.plan_composer import compose, compose_some
from tapegrad.autograd.saved import GRAD, RAW, check
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Namespace, OperatorLike
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.tensor_base import TensorBase, wrap

PLANS: list[Plan] = []  # all of them
_tensor_namespace: Any = None


def _find_namespace() -> Any:
    """The namespace whose operators are those of tensors, loaded by the first double backward."""
    global _tensor_namespace
    _tensor_namespace = TENSOR_NAMESPACE()
    return _tensor_namespace


class Plan:
    """What nodes of one operator keep for one pattern of inputs, and how their rules run."""

    __slots__ = (
        "conjugate",
        "kinds",  # of each input, a letter
        "large",
        "node_of_call",  # makes a node: (inputs, edges, params, outputs, restore, written)
        "node_of_small",  # for one or two operands: (x0, x1, edge_0, edge_1, y, restore)
        "node_type",
        "op",
        "places",  # of what is saved, by name
        "rules",  # pairs of an input's number and its rule, for those that require grad
        "rules_on_tensors",
        "run",  # run(node, g, retain): each edge and its gradient in turn
        "saves",
        "saves_tensors",
        "some",  # what runs the rules of some inputs alone, by their numbers
        "wide",
        "xp",
    )

    def __init__(
        self, op: OperatorLike, kinds: str, conjugate: bool, xp: Namespace, large: bool, wide: Any
    ):
        self.op, self.kinds = op, kinds
        self.conjugate = conjugate  # holomorphic on complex numbers: conj(rule(conj(g)))
        self.wide = wide  # what the rules shall compute in, if an operand has another dtype
        self.xp, self.large = xp, large
        self.some: dict[tuple[int, ...], Callable] = {}
        self.rules = self._needed_rules()
        self.rules_on_tensors = [
            (i, op.on_tensors.get(op.inputs[i], rule)) if op.on_tensors else (i, rule)
            for i, rule in self.rules
        ]
        names = dict.fromkeys(name for _, rule in self.rules for name in rule.names)
        self.saves = tuple(self._saved_at(n) for n in names if n != "xp" and not op.is_cotangent(n))
        self.places = {name: n for n, (_, _, name) in enumerate(self.saves)}
        self.saves_tensors = any(
            where in ("input", "output", "inputs", "constant output") for where, _, _ in self.saves
        )
        self.node_type = node_class(op)
        self.run, self.node_of_call, self.node_of_small = compose(self, xp, large)
        PLANS.append(self)
        for each in EVERYWHERE:
            each.follow(self)

    def _needed_rules(self) -> list[tuple[int, Any]]:
        """(number of the input, its rule) for inputs that require grad."""
        op = self.op
        if op.variadic:
            return [(0, op.vjps[op.inputs[0]])] if GRAD in self.kinds else []
        needed = []
        for i, (name, kind) in enumerate(zip(op.inputs, self.kinds, strict=False)):
            if kind == GRAD:
                if name not in op.vjps:
                    raise errors.not_implemented(
                        f"derivative for {op.name} with respect to {name} is not implemented",
                        f"Detach that argument, or declare {op.name}.vjp({name}=...).",
                    )
                needed.append((i, op.vjps[name]))
        return needed

    def _saved_at(self, name: str) -> tuple[str, Any, str]:
        """(where, key, name): where the value of a rule's parameter is found."""
        op = self.op
        if op.variadic and name == op.inputs[0]:
            return ("inputs", 0, name)
        if op.variadic and name == op.inputs[0] + "_like":
            return ("input_metadata", 0, name)
        if name in op.inputs:
            return ("input", op.inputs.index(name), name)
        if name in op.params:
            return ("param", name, name)
        if name == "y":
            return ("output", 0, name)
        if op.output_names and name in op.output_names:
            key = op.output_names.index(name)
            return ("constant output" if key in op.constant_outputs else "output", key, name)
        return ("like", op.inputs.index(name.removesuffix("_like")), name)

    def fitting(self, g: Array) -> Plan:
        """The plan that runs the same rules on arrays such as `g`, batched ones among them."""
        for x in g if isinstance(g, list) else (g,):
            if is_batched(x):
                xp = x.__array_namespace__()
                return self.op.plan(self.kinds, self.conjugate, xp, False, self.wide)
        return self

    def gradients(self, node: OperatorNode, g: Array, leads: Any = None) -> list:
        """The gradient of each input, None where none goes; what is saved stays.

        `leads`, where only some gradients are asked for: whether one lies behind an edge.
        """
        if self.op.variadic:
            return list(self.run(node, g, True)[1::2])
        found: list[Any] = [None] * len(self.kinds)
        rules, run = self.rules, self.run
        if leads is not None:
            rules = [x for x in rules if leads(node.edges[x[0]])]
            if not rules:
                return found
            if len(rules) < len(self.rules):
                run = self._run_of([i for i, _ in rules])
        for (i, _), result in zip(rules, run(node, g, True)[1::2], strict=True):
            found[i] = result
        return found

    def _run_of(self, inputs: list[int]) -> Callable:
        """What runs the rules of some inputs alone."""
        key = tuple(inputs)
        found = self.some.get(key)
        if found is None:
            found = self.some[key] = compose_some(self, self.xp, self.large, key)
        return found

    def _tensor(self, node: OperatorNode, where: str, key: Any, value: Any) -> Any:
        """Something saved, with its place in the graph where it is a tensor."""
        if where == "input":
            return placed(value, node.edges[key]) if self.kinds[key] == GRAD else value
        if where == "output":
            tensor = wrap(value)
            tensor._node = node
            if isinstance(node, MultiNode):
                tensor._node = Port(node, key)
                tensor._counter = counter_of(node, key)
            else:
                tensor._counter = counter_of(node)
            return tensor
        if where == "inputs":
            return [
                x if edge is None else placed(x, edge)
                for x, edge in zip(value, node.edges, strict=True)
            ]
        return value

    def promotes(self, key: int) -> bool:
        """Whether a saved operand is brought to the dtype of the result for the rules."""
        op = self.op
        if self.wide is None or op.promote is None or self.kinds[key] == RAW:
            return False
        return op.inputs[key] not in op.exempt

    def run_on_tensors(
        self, node: OperatorNode, g: Array, leads: Any = None, saved: Any = None
    ) -> list:
        """The rules on tensors: the result is part of a graph of its own.

        `leads`, where only some gradients are asked for: whether one lies behind an edge. `saved`,
        where it was packed: what the node saved.
        """
        if saved is None:
            check(node)
            saved = node.saved
        values: dict[str, Any] = {"xp": _tensor_namespace or _find_namespace()}
        if self.conjugate:
            g = [x.conj() for x in g] if isinstance(g, (list, tuple)) else g.conj()
        if isinstance(g, (list, tuple)):
            values.update(zip(self.op.cotangent_names(len(g)), g, strict=False))
        values["g"] = g
        edges = node.edges
        found: list[Any] = [None] * len(self.kinds)
        for i, rule in self.rules_on_tensors:
            if leads is not None and not self.op.variadic and not leads(edges[i]):
                continue
            for name in rule.names:
                if name not in values:
                    values[name] = self._operand(node, name, g, saved)
            result = rule.function(*[values[name] for name in rule.names])
            if self.op.variadic:
                found = list(result)
            else:
                found[i] = result
        if self.conjugate:
            found = [None if x is None else x.conj() for x in found]
        return found

    def _operand(self, node: OperatorNode, name: str, g: Any, saved: Any) -> Any:
        """What a rule on tensors asks for by `name`: of what was saved, or a place alone."""
        if name[:5] == "edge_":
            return place_alone(g, node.edges[self.op.inputs.index(name[5:])])
        n = self.places[name]
        where, key, _ = self.saves[n]
        value = self._tensor(node, where, key, saved[n])
        if where == "input" and self.promotes(key):
            return TENSOR_NAMESPACE().astype(value, self.wide)
        return value

    def saved_value(self, node: OperatorNode, name: str) -> Any:
        """The value of `node._saved_<name>`."""
        if name in _OF_SHAPE:
            like = self.op.inputs[0] + "_like" if self.op.inputs else name
            if like in self.places and not self.op.variadic:
                return _OF_SHAPE[name](self.tensor_at(node, self.place_of(node, like)).shape)
        value = self.tensor_at(node, self.place_of(node, name))
        return _REDUCTIONS.get(value, value) if name == "reduction" else value

    def tensor_at(self, node: OperatorNode, i: int) -> Any:
        """The `i`-th of what the node saved, with its place in the graph where it is a tensor."""
        if node.saved is None:
            raise freed(node)
        check(node)
        where, key, _ = self.saves[i]
        return self._tensor(node, where, key, node.saved[i])

    def place_of(self, node: OperatorNode, name: str, prefix: str = "_saved_") -> int:
        """Which of what a node keeps its attribute `_saved_<name>` is."""
        if node.saved is None:
            raise freed(node)
        saved = self.places
        own = _OWN_NAMES.get(name, name)
        if name == "self" and self.op.inputs:
            own = self.op.inputs[0]
        own = _OPERANDS.get(self.op.node_name, {}).get(name, own)
        own = name if name in saved else own
        if own not in saved:
            raise errors.advised(
                AttributeError(f"'{type(node).__name__}' object has no attribute '{prefix}{name}'"),
                f"It keeps {', '.join(prefix + n for n in saved) or 'nothing'}.",
            )
        return saved[own]

    def shown_names(self) -> list[str]:
        """What `dir` lists of what a node saves: `_saved_self`, `_raw_saved_self`."""
        found = []
        operands = {own: name for name, own in _OPERANDS.get(self.op.node_name, {}).items()}
        for where, key, name in self.saves:
            if name.endswith("_like") or (operands and name == "flipped"):
                continue  # a shape and a dtype, or what is known of a product, for rules alone
            if name in operands:
                name = operands[name]
            else:
                name = "self" if (where, key) == ("input", 0) else _THEIR_NAMES.get(name, name)
            found.append("_saved_" + name)
            if (
                "output" in where
                or where == "inputs"
                or (where == "input" and self.kinds[key] != RAW)
            ):
                found.append("_raw_saved_" + name)
        return found


_OF_SHAPE: dict[str, Callable] = {"self_sym_sizes": tuple, "self_sym_numel": prod}
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_OWN_NAMES = {"result": "y", "dim": "axis", "dims": "axes", "keepdim": "keepdims", "ord": "order"}
_THEIR_NAMES = {own: name for name, own in _OWN_NAMES.items()}

_OPERANDS = {
    "AddbmmBackward0": {"batch1": "a", "batch2": "b"},
    "AddmmBackward0": {"mat1": "a", "mat2": "b"},
    "AddmvBackward0": {"mat": "a", "vec": "b"},
    "AddrBackward0": {"vec1": "a", "vec2": "b"},
    "BaddbmmBackward0": {"batch1": "a", "batch2": "b"},
    "BmmBackward0": {"mat2": "b"},
    "DotBackward0": {"tensor": "b"},
    "MmBackward0": {"mat2": "b"},
    "MvBackward0": {"vec": "b"},
    "TransposeBackward0": {"dim0": "a", "dim1": "b"},
    "TrilBackward0": {"diagonal": "k"},
    "TriuBackward0": {"diagonal": "k"},
}
"""What nodes keep, by PyTorch's names."""


def placed(value: Any, edge: Any) -> Any:
    """A saved input, an array or a tensor, as a tensor behind the edge it had."""
    is_tensor = isinstance(value, TensorBase)  # among the inputs of a variadic operator
    array = value._array if is_tensor else value
    if type(edge) is AccumulateGrad and edge.array is array:
        return edge.variable
    if is_tensor and value._node is edge:
        return value
    tensor = wrap(array)
    tensor._node = edge
    tensor._counter = version_of(value) if is_tensor else counter_of(edge)
    return tensor


def place_alone(g: Any, edge: Any) -> Any:
    """A number that stands for a tensor behind `edge`, of which nothing but its place is known."""
    array = g._array
    tensor = wrap(namespace_of((array,)).zeros((), dtype=array.dtype))
    tensor._node = edge
    return tensor


# --- classes of nodes ---------------------------------------------------------------------------

_classes: dict[tuple[str, type], type] = {}


def _saved_property(name: str) -> property:
    """`node._saved_<name>`."""
    return property(lambda node: node.plan.saved_value(node, name))


def _raw_property(name: str) -> property:
    """`node._raw_saved_<name>`."""

    def raw(node: OperatorNode) -> Any:
        from tapegrad.autograd.raw_saved import raw_saved

        return raw_saved(node, name)

    return property(raw)


def node_class(op: OperatorLike) -> type:
    """The class of an operator's nodes, `MulBackward0` and the like, made on first use."""
    base = MultiNode if op.multi else PairNode if _is_small(op) else TupleNode
    key = (op.node_name, base)
    if key not in _classes:
        body: dict[str, Any] = {"__slots__": (), "__module__": "torch"}
        names = [n for rule in op.vjps.values() for n in rule.names]
        saved = [n for n in names if n != "xp" and not op.is_cotangent(n)]
        for name in ("self", *_OWN_NAMES, *_OF_SHAPE, *_OPERANDS.get(op.node_name, ()), *saved):
            body[f"_saved_{name}"] = _saved_property(name)
            body[f"_raw_saved_{name}"] = _raw_property(name)
        _classes[key] = type(op.node_name, (base,), body)
    return _classes[key]


def _is_small(op: OperatorLike) -> bool:
    """Whether an operator's nodes are `PairNode`s: those of the fast path of small calls."""
    return op.kind == "elementwise" and not op.params and len(op.inputs) <= 2
