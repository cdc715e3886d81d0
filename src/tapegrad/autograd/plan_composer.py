"""The functions of a plan, written as one would by hand and compiled once."""

import linecache

from tapegrad.arrays.narrow import promoted, widened
from tapegrad.arrays.numpy.blocks import in_blocks
from tapegrad.autograd.errors import freed
from tapegrad.autograd.node import FREED, MultiNode, PairNode
from tapegrad.autograd.node_constructor import scope_of, wiring
from tapegrad.autograd.saved import GRAD, RAW, check, like, saved_array, saved_input, version_now
from tapegrad.autograd.sum_to_size import restored, sum_to_size
from tapegrad.core.annotations import Any, Namespace, PlanLike


def compose(plan: PlanLike, xp: Namespace, large: bool) -> tuple:
    """The functions that run a node of one plan and that make it, the second for small calls too.

    For `mul` with two inputs that require grad:

        def MulBackward0(node, g, retain):
            other = node.saved_0
            input = node.saved_1
            if other is FREED: raise freed(node)
            v = node.edge_1.output_version
            if v is not None and v.value != (node.versions or unwritten)[0]: other = check(node, 0)
            v = node.edge_0.output_version
            if v is not None and v.value != (node.versions or unwritten)[1]: input = check(node, 1)
            g_0 = g * other
            g_1 = g * input
            if node.restore is not None:
                g_0 = sum_to_size(g_0, node.restore[0])
                g_1 = sum_to_size(g_1, node.restore[1])
            if not retain: node.saved_0 = node.saved_1 = FREED
            return (node.edge_0, g_0, node.edge_1, g_1,)

        def node_of_call(inputs, edges, params, outputs, restore, written):
            node = kind()
            node.plan = plan
            node.edge_0 = edges[0]
            node.edge_1 = edges[1]
            node.saved_0 = saved_array(inputs[1])
            node.saved_1 = saved_array(inputs[0])
            node.hooks = node.output_version = None
            node.versions = (version_now(inputs[1]), version_now(inputs[0])) if written else None
            node.restore = restore
            node.sequence = next_sequence()
            return node

        def node_of_small(x0, x1, edge_0, edge_1, y, restore):
            if x1._counter is not None or x0._counter is not None:
                return node_of_call((x0, x1), (edge_0, edge_1), {}, (y,), restore, True)
            node = kind()
            ...
            node.saved_0 = x1._array
            node.saved_1 = x0._array
            ...
    """
    scope = _scope(plan, xp)
    small = issubclass(plan.node_type, PairNode)
    lines = _running(plan, plan.rules, large, scope)
    lines += _node_of_call(plan, small)
    if small or (plan.op.view and len(plan.op.inputs) == 1):
        lines += _node_of_small(plan, small)
    _define(lines, f"<tapegrad rules of {plan.op.name}, inputs {plan.kinds}>", scope)
    return scope[plan.op.node_name], scope["node_of_call"], scope.get("node_of_small")


def compose_some(plan: PlanLike, xp: Namespace, large: bool, inputs: tuple[int, ...]) -> Any:
    """The function that runs the rules of some inputs alone."""
    scope = _scope(plan, xp)
    rules = [(i, rule) for i, rule in plan.rules if i in inputs]
    lines = _running(plan, rules, large, scope)
    _define(lines, f"<tapegrad rules of {plan.op.name}, inputs {inputs} of {plan.kinds}>", scope)
    return scope[plan.op.node_name]


def _scope(plan: PlanLike, xp: Namespace) -> dict[str, Any]:
    """What the names in the functions of a plan mean."""
    return {
        "__name__": __name__,  # whose numerical warnings are ignored
        "FREED": FREED,
        "sum_to_size": sum_to_size,
        "check": check,
        "freed": freed,
        "saved_input": saved_input,
        "saved_array": saved_array,
        "like": like,
        **scope_of(plan.node_type, plan),
        "restored": restored,
        "widened": widened,
        "promoted": promoted,
        "wide": plan.wide,
        "version_now": version_now,
        "unwritten": (0,) * len(plan.saves),
        "xp": xp,
    }


def _define(lines: list[str], file: str, scope: dict[str, Any]) -> None:
    source = "\n".join(lines) + "\n"
    exec(compile(source, file, "exec"), scope)
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)


def _running(plan: PlanLike, rules: list, large: bool, scope: dict[str, Any]) -> list[str]:
    """Lines of the function that runs rules of a node; `scope` is given what they call."""
    op, small = plan.op, issubclass(plan.node_type, PairNode)
    names = [name for _, _, name in plan.saves]
    lines = [f"def {op.node_name}(node, g, retain):", *_read_saved(plan, names, small)]
    lines += _unpacking(plan, small)
    if plan.conjugate:
        lines.append(
            "    g = [xp.conj(x) for x in g] if isinstance(g, (list, tuple)) else xp.conj(g)"
        )
    if plan.wide is not None:
        lines += _widening(plan)
    if op.output_names and op.multi:
        lines.append(f"    {', '.join('g_' + n for n in op.output_names)}, = g")
    within = "    "
    if op.shared is not None and len(rules) > 1:
        scope["shared"] = op.shared
        lines.append("    with shared:")
        within = "        "
    for i, rule in rules:
        # a rule of the cotangent alone hands it on, or is one pass: blocks would copy it
        blocks = large and rule.names != ("g",)
        blocks = blocks and not any(name.endswith("_like") for name in rule.names)
        written_out = _WRITTEN_OUT.get(rule.function.__code__.co_code)
        if written_out is not None and not blocks:
            lines.append(f"{within}g_{i} = {written_out.format(*rule.names)}")
            continue
        scope[f"rule_{i}"] = in_blocks(rule.function) if blocks else rule.function
        lines.append(f"{within}g_{i} = rule_{i}({', '.join(rule.names)})")
    return [*lines, *_handed_on(plan, [i for i, _ in rules], small)]


_WRITTEN_OUT = {
    (lambda g: g).__code__.co_code: "{}",
    (lambda g: -g).__code__.co_code: "-{}",
    (lambda g, x: g * x).__code__.co_code: "{} * {}",
}
"""The commonest rules, told by their code, which names no constant: a call less for each."""


def _kind_of_saved(plan: PlanLike, where: str, key: object) -> str:
    return "gradient" if where == "input" and plan.kinds[key] == GRAD else where


def _read_saved(plan: PlanLike, names: list[str], small: bool) -> list[str]:
    """Lines that take what the node saved, and see that it is still there."""
    if not names:
        return []
    if small:
        lines = [f"{name} = node.saved_{i}" for i, name in enumerate(names[:2])]
        test = f"{names[0]} is FREED"
        unpacked = f"{', '.join(names[1:])}, = node.saved_1"
    else:
        lines = ["saved = node.saved"]
        test = "saved is None"
        unpacked = f"{', '.join(names)}, = saved"
    if small and len(names) > 2:
        lines.pop()
    if plan.saves_tensors:
        lines.append(f"if {test}: raise freed(node)")
    if not small or len(names) > 2:
        lines.append(unpacked)
    return [f"    {line}" for line in lines]


def _unpacking(plan: PlanLike, small: bool) -> list[str]:
    """Lines that turn what is saved into arrays, and see that nobody wrote to it."""
    lines = []
    for i, (where, key, name) in enumerate(plan.saves):
        if where == "input" and plan.kinds[key] == GRAD:
            lines += [f"v = {_edge(key, small)}.output_version", _SEEN.format(i, name)]
        elif (where == "input" and plan.kinds[key] != RAW) or where == "constant output":
            lines += [f"v = {name}._counter", _SEEN.format(i, name), f"{name} = {name}._array"]
        elif where == "output":
            if issubclass(plan.node_type, MultiNode):
                lines += [f"v = (node.output_version or {{}}).get({key})", _SEEN.format(i, name)]
            else:
                lines += ["v = node.output_version", _SEEN.format(i, name)]
        elif where == "inputs":
            lines += ["check(node)", f"{name} = [x._array for x in {name}]"]
    return [f"    {line}" for line in lines]


def _widening(plan: PlanLike) -> list[str]:
    """Lines that bring the cotangent and what is saved to the dtype in which the rules compute."""
    lines = ["    g = widened(g)"]
    for where, key, name in plan.saves:
        if where == "input" and plan.promotes(key):
            lines.append(f"    {name} = promoted({name}, wide)")
        elif where != "param":
            lines.append(f"    {name} = widened({name})")
    return lines


_SEEN = "if v is not None and v.value != (node.versions or unwritten)[{0}]: {1} = check(node, {0})"


def _edge(i: int, small: bool) -> str:
    return f"node.edge_{i}" if small else f"node.edges[{i}]"


def _handed_on(plan: PlanLike, inputs: list[int], small: bool) -> list[str]:
    """Lines that sum gradients to the sizes of the inputs, free what was saved, and return."""
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
        lines += [f"    g_{i} = sum_to_size(g_{i}, node.restore[{i}])" for i in inputs]
        result = "(" + "".join(f"{_edge(i, small)}, g_{i}, " for i in inputs) + ")"
    if plan.saves_tensors:
        freed = "node.saved_0 = node.saved_1 = FREED" if small else "node.saved = None"
        lines.append(f"if not retain: {freed}")
    return [f"    {line}" for line in (*lines, f"return {result}")]


# --- making a node -------------------------------------------------------------------------------


def _node_of_call(plan: PlanLike, small: bool) -> list[str]:
    """The constructor that `apply` calls."""
    texts = [
        _SAVE_TEXTS[_kind_of_saved(plan, where, key)].format(key=key)
        for where, key, _ in plan.saves
    ]
    versions = [_VERSION_TEXTS.get(where, "0").format(key=key) for where, key, _ in plan.saves]
    if small:
        edges = _edges_of_pair([f"edges[{i}]" for i in range(len(plan.kinds))])
        saved = _saved_of_pair(texts)
    else:
        edges, saved = ["node.edges = tuple(edges)"], [f"node.saved = {_tuple(texts)}"]
    taken = f"{_tuple(versions)} if written else None" if texts else "None"
    head = "def node_of_call(inputs, edges, params, outputs, restore, written):"
    return [head, *wiring(edges, saved, taken, "restore")]


def _node_of_small(plan: PlanLike, small: bool) -> list[str]:
    """The constructor that the fast paths of one and two operands call, and those of views."""
    n = len(plan.kinds)
    texts, counters = [], []
    for where, key, _ in plan.saves:
        kind = _kind_of_saved(plan, where, key)
        text = _SAVE_TEXTS[kind].format(key=key)
        if kind in ("gradient", "input") and plan.kinds[key] != RAW:
            text = f"x{key}._array" if kind == "gradient" else f"x{key}"
            counters.append(f"x{key}._counter is not None")
        elif where == "input":
            text = f"x{key}"
        texts.append(text.replace(f"inputs[{key}]", f"x{key}").replace("outputs[0]", "y"))
    inputs, edges = [f"x{i}" for i in range(n)], [f"edge_{i}" for i in range(n)]
    last = "restore" if n == 2 else "params=()"
    restore = "restore" if n == 2 else "None"
    lines = [f"def node_of_small({', '.join((*inputs, *edges))}, y, {last}):"]
    if counters:
        rest = f"{'{}' if n == 2 else 'params'}, (y,), {restore}, True"
        lines += [
            f"    if {' or '.join(counters)}:",
            f"        return node_of_call({_tuple(inputs)}, {_tuple(edges)}, {rest})",
        ]
    if small:
        return [*lines, *wiring(_edges_of_pair(edges), _saved_of_pair(texts), restore=restore)]
    return [*lines, *wiring([f"node.edges = {_tuple(edges)}"], [f"node.saved = {_tuple(texts)}"])]


def _edges_of_pair(texts: list[str]) -> list[str]:
    return [f"node.edge_{i} = {text}" for i, text in enumerate(texts)]


def _saved_of_pair(texts: list[str]) -> list[str]:
    """Lines that let a `PairNode` keep things: a third goes with the second."""
    if len(texts) > 2:
        texts = [texts[0], _tuple(texts[1:])]
    return [f"node.saved_{i} = {text}" for i, text in enumerate(texts)]


def _tuple(texts: list[str]) -> str:
    return f"({''.join(text + ', ' for text in texts)})"


_VERSION_TEXTS = {
    "input": "version_now(inputs[{key}])",
    "inputs": "tuple([version_now(x) for x in inputs])",
}
_SAVE_TEXTS = {
    "gradient": "saved_array(inputs[{key}])",
    "input": "saved_input(inputs[{key}])",
    "like": "like(inputs[{key}])",
    "param": "params[{key!r}]",
    "output": "outputs[{key}]._array",
    "constant output": "outputs[{key}]",
    "inputs": "tuple([saved_input(x) for x in inputs])",
    "input_metadata": "[like(x) for x in inputs]",
}
