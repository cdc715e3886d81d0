"""What a node keeps and how it runs, worked out once for each operator and kind of call.

A rule's parameters are what the graph keeps: `xp`, `g` (cotangent), `y` (output), inputs, keywords
and outputs by name, `x_like` (shape and dtype of `x`). A `Plan` holds, for one pattern of inputs
that require grad, which of these a node saves, and two ways to run the rules: on arrays (a function
composed once, the fast path) and on tensors, when the derivative itself must be differentiable.
"""

from __future__ import annotations

import linecache
from typing import Any

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.arrays.blocks import in_blocks
from tapegrad.arrays.mark import Like
from tapegrad.autograd.graph import (
    FREED,
    INFERENCE,
    AccumulateGrad,
    MultiNode,
    Node,
    PairNode,
    Port,
    TupleNode,
    version_of,
)
from tapegrad.autograd.origin import short_name
from tapegrad.autograd.restore import brought_back, restored
from tapegrad.autograd.view import edge_of

GRAD, CONSTANT, RAW = "g", "c", "r"  # an input that requires grad, another tensor, no tensor


def version_now(value: Any) -> int:
    """The version of something kept: 0 for what has no counter."""
    version = getattr(value, "_counter", None)
    if version is INFERENCE:
        raise errors.inference_saved()
    return 0 if version is None else version.value


def _like(value: Any) -> Any:
    """What `x_like` is for an input: a Like, or the Python number or None itself."""
    mark = getattr(value, "_mark", None)
    if mark is not None and mark is not False:
        return mark.like
    array = getattr(value, "_array", value)
    return Like(array) if hasattr(array, "shape") else value


class Plan:
    """What nodes of one operator keep for one pattern of inputs, and how their rules run."""

    __slots__ = (
        "code",
        "conjugate",
        "keeps",
        "keeps_tensors",
        "kinds",  # of each input, a letter
        "node_type",
        "op",
        "run",  # run(node, g, retain): each edge and its gradient in turn
        "save",  # what a node keeps of a call: save(inputs, params, outputs)
        "versions",  # the versions of it, where an input has a counter: versions(inputs)
    )

    def __init__(self, op: Any, kinds: str, conjugate: bool, xp: Any, large: bool):
        self.op = op
        self.kinds = kinds
        self.conjugate = conjugate  # holomorphic on complex numbers: conj(rule(conj(g)))
        names = dict.fromkeys(name for _, rule in self.rules() for name in rule.names)
        self.keeps = tuple(self._keep(n) for n in names if n != "xp" and not op.is_cotangent(n))
        self.keeps_tensors = any(
            where in ("input", "output", "inputs") for where, _, _ in self.keeps
        )
        self.node_type = node_class(op)
        self.code = _FAST_KEEPS.get(tuple(self.keeps), -1)
        self.run, self.save, self.versions = _compose(self, xp, large)

    def rules(self) -> list[tuple[int, Any]]:
        """(number of the input, its rule) for inputs that require grad."""
        op = self.op
        if op.variadic:
            return [(0, op.vjps[op.inputs[0]])] if GRAD in self.kinds else []
        needed = []
        for i, (name, kind) in enumerate(zip(op.inputs, self.kinds, strict=False)):
            if kind == GRAD:
                if name not in op.vjps:
                    raise errors.advised(
                        NotImplementedError(
                            f"derivative for {op.name} with respect to {name} is not implemented"
                        ),
                        f"Detach that argument, or declare {op.name}.vjp({name}=...).",
                    )
                needed.append((i, op.vjps[name]))
        return needed

    def _keep(self, name: str) -> tuple[str, Any, str]:
        """(where, key, name): where the value of a rule's parameter is found."""
        op = self.op
        if op.variadic and name == op.inputs[0]:
            return ("inputs", 0, name)
        if op.variadic and name == op.inputs[0] + "_like":
            return ("likes", 0, name)
        if name in op.inputs:
            return ("input", op.inputs.index(name), name)
        if name in op.params:
            return ("param", name, name)
        if name == "y":
            return ("output", 0, name)
        if op.output_names and name in op.output_names:
            return ("output", op.output_names.index(name), name)
        return ("like", op.inputs.index(name.removesuffix("_like")), name)

    def gradients(self, node: Node, g: Any) -> list:
        """The gradient of each input, None where none goes; what is kept stays."""
        flow = self.run(node, g, True)
        if self.op.variadic:
            return list(flow[1::2])
        found: list[Any] = [None] * len(self.kinds)
        for (i, _), result in zip(self.rules(), flow[1::2], strict=True):
            found[i] = result
        return found

    def tensors(self, node: Node) -> dict[str, Any]:
        """What the node kept, by name, as tensors with their place in the graph."""
        check(node)
        return {
            name: self._tensor(node, where, key, value)
            for (where, key, name), value in zip(self.keeps, node.saved, strict=True)
        }

    def _tensor(self, node: Node, where: str, key: Any, value: Any) -> Any:
        from tapegrad.tensor import wrap

        if where == "inputs":
            return [
                x if edge is None else _placed(x, edge)
                for x, edge in zip(value, node.edges, strict=True)
            ]
        if where == "input" and self.kinds[key] == GRAD:
            return _placed(value, node.edges[key])
        if where == "output":
            tensor = wrap(value)
            tensor._node = node
            if isinstance(node, MultiNode):
                tensor._node = Port(node, key)
                tensor._counter = (node.output_version or {}).get(key)
            elif key == self.op.differentiable_output:
                tensor._counter = node.output_version
            else:
                tensor._node = None
            return tensor
        return value

    def run_on_tensors(self, node: Node, g: Any) -> list:
        """The rules on tensors: the result is part of a graph of its own."""
        from tapegrad import namespace

        values = self.tensors(node)
        values["xp"] = namespace
        if self.conjugate:
            g = [x.conj() for x in g] if isinstance(g, (list, tuple)) else g.conj()
        if isinstance(g, (list, tuple)):
            values.update(zip(self.op.cotangent_names(len(g)), g, strict=False))
        values["g"] = g
        found: list[Any] = [None] * len(self.kinds)
        for i, rule in self.rules():
            result = rule.function(*[values[name] for name in rule.names])
            if self.op.variadic:
                found = list(result)
            else:
                found[i] = result
        if self.conjugate:
            found = [None if x is None else x.conj() for x in found]
        return found

    def kept(self, node: Node, name: str) -> Any:
        """The value of `node._saved_<name>`."""
        if node.saved is None:
            raise errors.freed()
        names = {each: each for _, _, each in self.keeps}
        if "y" in names:
            names.setdefault("result", "y")
        if self.op.inputs:
            names.setdefault("self", self.op.inputs[0])
        if names.get(name) not in [each for _, _, each in self.keeps]:
            raise errors.advised(
                AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'"),
                f"It keeps {', '.join('_saved_' + n for _, _, n in self.keeps) or 'nothing'}.",
            )
        return self.tensors(node)[names[name]]


def _placed(value: Any, edge: Any) -> Any:
    """A kept input, an array or a tensor, as a tensor behind the edge it had."""
    from tapegrad.tensor import Tensor, wrap

    kept_tensor = isinstance(value, Tensor)  # among the inputs of a variadic operator
    array = value._array if kept_tensor else value
    if type(edge) is AccumulateGrad and edge.array is array:
        return edge.variable
    if kept_tensor and value._node is edge:
        return value
    tensor = wrap(array)
    tensor._node = edge
    tensor._counter = version_of(value) if kept_tensor else edge.output_version
    return tensor


# --- the common patterns of elementwise calls, which the fast path writes out ------------------

KEEP_NOTHING, KEEP_FIRST, KEEP_SECOND, KEEP_OUTPUT = 0, 1, 2, 4
KEEP_BOTH, KEEP_SWAPPED = 3, 5


class _Patterns(dict):
    def get(self, keeps: Any, default: Any = None) -> Any:
        return super().get(tuple((where, key) for where, key, _ in keeps), default)


_FAST_KEEPS = _Patterns(
    {
        (): KEEP_NOTHING,
        (("input", 0),): KEEP_FIRST,
        (("input", 1),): KEEP_SECOND,
        (("input", 0), ("input", 1)): KEEP_BOTH,
        (("input", 1), ("input", 0)): KEEP_SWAPPED,
        (("output", 0),): KEEP_OUTPUT,
    }
)

_classes: dict[tuple[str, type], type] = {}


def _kept_property(name: str) -> property:
    """`node._saved_<name>`."""
    return property(lambda node: node.plan.kept(node, name))


def node_class(op: Any) -> type:
    """The class of an operator's nodes, `MulBackward0` and the like, made on first use."""
    base = MultiNode if op.multi else PairNode if _is_small(op) else TupleNode
    key = (op.node_name, base)
    if key not in _classes:
        body: dict[str, Any] = {"__slots__": (), "__module__": "torch"}
        names = [n for rule in op.vjps.values() for n in rule.names]
        kept = [n for n in names if n != "xp" and not op.is_cotangent(n)]
        for name in ("self", "result", *kept):
            body[f"_saved_{name}"] = _kept_property(name)
        _classes[key] = type(op.node_name, (base,), body)
    return _classes[key]


def _is_small(op: Any) -> bool:
    """Whether an operator's nodes are `PairNode`s: those of the fast path of small calls."""
    return op.kind == "elementwise" and not op.params and len(op.inputs) <= 2


def _compose(plan: Plan, xp: Any, large: bool) -> tuple:
    """Write the functions that keep and that run, as one would by hand, and compile them.

    For `mul` with two inputs that require grad:

        def MulBackward0(node, g, retain):
            other = node.kept_0
            input = node.kept_1
            if other is FREED: raise freed()
            versions = node.versions or unwritten
            v = node.edge_1.output_version
            if v is not None and v.value != versions[0]: check(node)
            v = node.edge_0.output_version
            if v is not None and v.value != versions[1]: check(node)
            g_0 = rule_0(g, other)
            g_1 = rule_1(g, input)
            if node.restore is not None:
                g_0 = brought_back(g_0, node.restore[0])
                g_1 = brought_back(g_1, node.restore[1])
            if not retain: node.kept_0 = node.kept_1 = FREED
            return (node.edge_0, g_0, node.edge_1, g_1,)
        def save(inputs, params, outputs):
            return (kept(inputs[1]), kept(inputs[0]),)
        def versions(inputs):
            return (version_now(inputs[1]), version_now(inputs[0]),)
    """
    op = plan.op
    scope: dict[str, Any] = {
        "FREED": FREED,
        "brought_back": brought_back,
        "check": check,
        "freed": errors.freed,
        "held": _held,
        "kept": _kept,
        "like": _like,
        "restored": restored,
        "version_now": version_now,
        "unwritten": (0,) * len(plan.keeps),
        "xp": xp,
    }
    small = issubclass(plan.node_type, PairNode)
    names = [name for _, _, name in plan.keeps]
    lines = [f"def {op.node_name}(node, g, retain):", *_taken(plan, names, small)]
    lines += _unpacking(plan, names, small)
    if plan.conjugate:
        lines.append(
            "    g = [xp.conj(x) for x in g] if isinstance(g, (list, tuple)) else xp.conj(g)"
        )
    if op.output_names and op.multi:
        lines.append(f"    {', '.join('g_' + n for n in op.output_names)}, = g")
    for i, rule in plan.rules():
        # a rule of the cotangent alone hands it on, or is one pass: blocks would copy it
        blocks = large and rule.names != ("g",)
        blocks = blocks and not any(name.endswith("_like") for name in rule.names)
        scope[f"rule_{i}"] = in_blocks(rule.function) if blocks else rule.function
        lines.append(f"    g_{i} = rule_{i}({', '.join(rule.names)})")
    lines += _handed_on(plan, small)
    kept = "".join(
        f"{_KEEP_TEXTS[_kind_of_keep(plan, where, key)].format(key=key)}, "
        for where, key, _ in plan.keeps
    )
    lines += ["def save(inputs, params, outputs):", f"    return ({kept})"]
    versions = "".join(
        f"{_VERSION_TEXTS.get(where, '0').format(key=key)}, " for where, key, _ in plan.keeps
    )
    lines += ["def versions(inputs):", f"    return ({versions})"]
    source = "\n".join(lines) + "\n"
    file = f"<tapegrad rules of {op.name}, inputs {plan.kinds}>"
    exec(compile(source, file, "exec"), scope)
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    return scope[op.node_name], scope["save"], scope["versions"]


def _kind_of_keep(plan: Plan, where: str, key: Any) -> str:
    return "gradient" if where == "input" and plan.kinds[key] == GRAD else where


def _taken(plan: Plan, names: list[str], small: bool) -> list[str]:
    """Lines that take what the node kept, and see that it is still there."""
    if not names:
        return []
    if small:
        lines = [f"{name} = node.kept_{i}" for i, name in enumerate(names[:2])]
        if len(names) > 2:
            lines[1] = f"{', '.join(names[1:])}, = node.kept_1"
        test = f"{names[0]} is FREED"
    else:
        lines = ["saved = node.saved"]
        test = "saved is None"
    if plan.keeps_tensors:
        lines.append(f"if {test}: raise freed()")
    if not small:
        lines.append(f"{', '.join(names)}, = saved")
    return [f"    {line}" for line in lines]


def _unpacking(plan: Plan, names: list[str], small: bool) -> list[str]:
    """Lines that turn what is saved into arrays, and see that nobody wrote to it."""
    lines = []
    for i, (where, key, name) in enumerate(plan.keeps):
        if where == "input" and plan.kinds[key] == GRAD:
            lines += [f"v = {_edge(key, small)}.output_version", _SEEN.format(i)]
        elif where == "input" and plan.kinds[key] != RAW:
            lines += [f"v = {name}._counter", _SEEN.format(i), f"{name} = {name}._array"]
        elif where == "output":
            if issubclass(plan.node_type, MultiNode):
                lines += [f"v = (node.output_version or {{}}).get({key})", _SEEN.format(i)]
            elif key == plan.op.differentiable_output:
                lines += ["v = node.output_version", _SEEN.format(i)]
        elif where == "inputs":
            lines += ["check(node)", f"{name} = [x._array for x in {name}]"]
    if not any("versions" in line for line in lines):
        return [f"    {line}" for line in lines]
    return ["    versions = node.versions or unwritten", *(f"    {line}" for line in lines)]


_SEEN = "if v is not None and v.value != versions[{}]: check(node)"


def _edge(i: int, small: bool) -> str:
    return f"node.edge_{i}" if small else f"node.edges[{i}]"


def _handed_on(plan: Plan, small: bool) -> list[str]:
    """Lines that bring the gradients back to the inputs' shapes, free what was kept, and return."""
    inputs = [i for i, _ in plan.rules()]
    lines: list[str] = []
    if plan.op.variadic:
        if plan.conjugate:
            lines.append("g_0 = [None if x is None else xp.conj(x) for x in g_0]")
        lines.append("if node.restore is not None: g_0 = restored(g_0, node.restore)")
        result = "[x for pair in zip(node.edges, g_0) for x in pair]"
    else:
        if plan.conjugate:
            lines += [f"if g_{i} is not None: g_{i} = xp.conj(g_{i})" for i in inputs]
        lines.append("if node.restore is not None:")
        lines += [f"    g_{i} = brought_back(g_{i}, node.restore[{i}])" for i in inputs]
        result = "(" + "".join(f"{_edge(i, small)}, g_{i}, " for i in inputs) + ")"
    if plan.keeps_tensors:
        freed = "node.kept_0 = node.kept_1 = FREED" if small else "node.saved = None"
        lines.append(f"if not retain: {freed}")
    return [f"    {line}" for line in (*lines, f"return {result}")]


_VERSION_TEXTS = {
    "input": "version_now(inputs[{key}])",
    "inputs": "tuple([version_now(x) for x in inputs])",
}
_KEEP_TEXTS = {
    "gradient": "kept(inputs[{key}])",
    "input": "held(inputs[{key}])",
    "like": "like(inputs[{key}])",
    "param": "params[{key!r}]",
    "output": "outputs[{key}]._array",
    "inputs": "tuple([held(x) for x in inputs])",
    "likes": "[like(x) for x in inputs]",
}


def _kept(x: Any) -> Any:
    """What is kept of an input that requires grad: its array. Its version counter, where it has
    one because it is a view or was written, is found at the node behind it."""
    if x._counter is not None:
        version_kept(x, edge_of(x))
    return x._array


def version_kept(x: Any, edge: Any) -> int:
    """The version of `x`, whose array a node keeps; the node behind it learns of the counter."""
    counter = x._counter
    if counter is None:
        return 0
    if counter is INFERENCE:
        raise errors.inference_saved()
    if edge.output_version is not counter:
        edge.watch(counter)
    return counter.value


def _held(x: Any) -> Any:
    """What is kept of another input: itself, or where it has a version counter a stand-in. What is
    written through a tensor later may lead back to the node, which then would never be freed."""
    if getattr(x, "_counter", None) is None:
        return x
    kept = _tensor.wrap(x._array)
    kept._node, kept._counter = x._node, x._counter
    if x._view is not None:
        kept.__class__ = _tensor.KeptView
    return kept


def check(node: Node) -> None:
    """Raise if something the node kept was written in place since."""
    expected = node.versions
    for i, ((where, key, _), value) in enumerate(zip(node.plan.keeps, node.saved, strict=True)):
        edge = None
        if where == "input":
            if hasattr(value, "_counter"):
                version = value._counter
            else:
                edge = node.edges[key]
                version = None if edge is None else edge.output_version
        elif where == "output":
            version = node.output_version
            if type(version) is dict:
                version = version.get(key)
            elif key != node.plan.op.differentiable_output:
                version = None
            edge = Port(node, key) if isinstance(node, MultiNode) else node
        elif where == "inputs":
            _check_inputs(node, value, (0,) * len(value) if expected is None else expected[i])
            continue
        else:
            continue
        want = expected[i] if expected is not None else 0
        if version is not None and version.value != want:
            array = value._array if hasattr(value, "_counter") else value
            origin = origin_of(edge) if where == "output" else _origin(value, edge, version)
            raise errors.modified(array, version, want, origin)


def _check_inputs(node: Node, values: tuple, expected: tuple) -> None:
    for value, want in zip(values, expected, strict=True):
        version = getattr(value, "_counter", None)
        if version is not None and version.value != want:
            raise errors.modified(value._array, version, want, _origin(value, None, version))


def _origin(value: Any, edge: Any, version: Any) -> str:
    """Which output of which node a kept tensor is by now, as PyTorch words it."""
    if version.origin:
        view = type(value) is _tensor.KeptView or _is_view_node(edge)
        return "output 0 of AsStrided" if view else version.origin
    return origin_of(value._node if hasattr(value, "_node") else edge)


def _is_view_node(edge: Any) -> bool:
    """Whether a view operator made what is behind an edge."""
    plan = getattr(edge.node if type(edge) is Port else edge, "plan", None)
    return plan is not None and (not hasattr(plan, "op") or plan.op.view)


def origin_of(edge: Any) -> str:
    """Which output of which node an edge points at; nothing for a leaf."""
    if edge is None or type(edge) is AccumulateGrad:
        return ""
    index = edge.index if type(edge) is Port else 0
    return f"output {index} of {short_name(edge)}"
