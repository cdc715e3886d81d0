"""Explanations of why a tensor has the gradient it has, or none."""

from tapegrad.autograd.describe import described, is_freed
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.reachable import reachable
from tapegrad.autograd.trace import FREED_BY, place, trace_of
from tapegrad.core.annotations import Any, NodeLike
from tapegrad.core.errors import type_error
from tapegrad.inspect.living import Owners, bytes_kept, holders_of
from tapegrad.inspect.watching import Blocked, Call, Changed, Cut, Log, Pass, latest, node_behind
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor

_LOST = {
    "no_grad": "Move that line out of the block, if a gradient is to go through it.",
    "integers": "Integers and booleans have no gradient: stay with floating numbers there, such as "
    "softmax() in place of argmax(), sigmoid() in place of a comparison.",
    "constant": "Use a function that has a derivative.",
    "detach()": "Leave detach() out there, if a gradient is to go through.",
    "detach_()": "Leave detach_() out there, if a gradient is to go through.",
    ".data": "Use the tensor itself in place of .data.",
    "torch.tensor()": "torch.tensor() copies numbers: use the tensor itself, or its clone(); join "
    "several by torch.stack().",
    "library": "What that call gives has no history on purpose: compute with the tensor itself.",
    "nn.Parameter()": "Parameter() makes a new leaf: compute with the tensor itself.",
}
_LEFT = "What Python and NumPy compute has no history: compute with functions of torch."


def restored_by(kind: str) -> str:
    """What lets a gradient through where history was lost by `kind`; see `log.Cut`.

    >>> from tapegrad.inspect.explanation import restored_by
    >>> restored_by(".data")
    'Use the tensor itself in place of .data.'
    """
    return _LOST.get(kind, _LEFT)


_SATURATED = "what goes in is so large that its slope is zero there: scale it down, as by a norm"
_STEPS = "it is constant between its steps, so its derivative is zero everywhere: use a smooth one"
_OVERWRITTEN = "it overwrote what was computed before: write out of place, or only a part"
_FACTOR = "what it multiplies with is zero, or too small"
_WHY = {
    "Relu": "all that goes in is negative: a smaller learning rate, another initialization, or "
    "leaky_relu() keep a unit alive",
    "Clamp": "all that goes in is outside of the limits",
    "ClampMin": "all that goes in is below the limit",
    "ClampMax": "all that goes in is above the limit",
    "Hardtanh": "all that goes in is outside of the limits",
    "Sigmoid": _SATURATED,
    "Tanh": _SATURATED,
    "Softmax": "it is saturated, or all that is made of it is its sum, which is always 1",
    "LogSoftmax": "what was made of it does not change with what goes in",
    "Where": "the other side was chosen everywhere",
    "Erf": _SATURATED,
    **dict.fromkeys("Round Floor Ceil Trunc Sign Heaviside DivTruncate DivFloor".split(), _STEPS),
    **dict.fromkeys("Fill Zero Copy CopySlices IndexPut Normal Uniform".split(), _OVERWRITTEN),
    **dict.fromkeys("Mul Mm Bmm Addmm Mv Dot Linear Pow Div".split(), _FACTOR),
    "Embedding": "it was asked for no row but padding_idx",
    "Max": "others were larger",
    "Index": "nothing of it was asked for",
}


def reason_of(blocked: Any) -> str:
    """Why a node let no gradient through; see `log.Blocked`."""
    if blocked.custom:
        return "its backward() returns " + ("None" if blocked.silent else "zeros")
    name = blocked.node.rstrip("0123456789").removesuffix("Backwards").removesuffix("Backward")
    return _WHY.get(name, "its derivative is zero there")


_ASK_AGAIN = "Run the program inside tapegrad.inspect.watch() and ask again: "


# --- with a gradient -----------------------------------------------------------------------------


def of_gradient(x: Any, node: NodeLike, log: Log | None) -> list[str]:
    """Lines about a tensor that has a gradient."""
    g = x._grad
    is_leaf = type(node) is AccumulateGrad
    lines = [f"Its .grad is {described(g)}."]
    if not g.isfinite().all():
        return lines + _not_finite(node, log, is_leaf)
    if g._array.any():
        return lines + (Owners(x).findings() if is_leaf else [])
    reached = None if log is None or not is_leaf else log.reached.get(node)
    if reached is None:
        if log is None:
            lines.append(_ASK_AGAIN + "it notes which operator turns a gradient into zeros.")
        return lines
    seen, zero = reached
    if not zero:
        line = None if g._counter is None else g._counter.line
        by = "" if line is None else f" by {g._counter.operator}() at {line[0]}:{line[1]}"
        lines.append(
            f"What the backward pass{place(seen.trace)} added was not zero: it was reset{by}."
        )
        return lines
    return lines + _zeros(seen, node)


def _zeros(seen: Pass, leaf: AccumulateGrad) -> list[str]:
    """Why nothing but zeros reached a leaf."""
    lines = []
    for each in reversed([b for b in seen.blocked if leaf in b.leaves and not b.silent]):
        lines.append(
            f"{each.node}{place(each.trace)} received a gradient that is not zero and sent zeros: "
            f"{reason_of(each)}."
        )
        lines += [f"  it computed with {kept}" for kept in each.kept]
    lines += [_changed(each) for each in seen.changed if leaf in each.leaves]
    began = f"Nothing but zeros reached it in the backward pass{place(seen.trace)}."
    return lines or [began]


def _changed(changed: Changed) -> str:
    """What has become zero between nodes, in words."""
    senders = _calls(changed.calls)
    if changed.hooks and len(changed.calls) < 2:
        return f"{senders} sent a gradient that is not zero: a hook has made zeros of it."
    also = ", or a hook made zeros of them" if changed.hooks else ""
    return f"{senders} sent gradients that cancel each other: their sum is zero{also}."


def _not_finite(node: NodeLike, log: Log | None, is_leaf: bool) -> list[str]:
    reached = None if log is None or not is_leaf else log.reached.get(node)
    bad = None if reached is None else reached[0].bad
    if bad is None:
        return ["torch.autograd.detect_anomaly() tells which operator it comes from."]
    return [
        f"The first {bad[0]} of that backward pass was made by {_calls([bad[1]])}; "
        "torch.autograd.detect_anomaly() tells what from."
    ]


def _calls(calls: list[Call]) -> str:
    return " and ".join(dict.fromkeys(f"{call.name}{place(call.trace)}" for call in calls))


# --- without a gradient --------------------------------------------------------------------------


def of_lonely_leaf(x: object, node: AccumulateGrad, log: Log | None) -> list[str]:
    """Lines about a leaf whose `.grad` is None."""
    reached = None if log is None else log.reached.get(node)
    if log is not None and reached is not None:
        return [_cleared(node, reached[0], log)]
    owners = Owners(x)
    if log is None:
        return [
            "Its .grad is None: no backward pass has reached it, or its gradient was forgotten, as "
            "by zero_grad().",
            _ASK_AGAIN + "it notes where what is computed from it loses its history.",
            *owners.findings(),
        ]
    lines = ["Its .grad is None: no backward pass has reached it."]
    why = _blocked(node, log) or _asked_for_others(node, log) or lost_on_the_way(node, log)
    return lines + (why or _elsewhere(x, node, log, owners)) + owners.findings()


def _cleared(node: AccumulateGrad, seen: Pass, log: Log) -> str:
    by = log.cleared.get(node)
    how = ", as zero_grad() does" if by is None else f" by {by.name}{place(by.trace)}"
    if by is not None and node.hooks is not None and node.hooks.accumulated:
        how += ", maybe in its post-accumulate-grad hook"
    return (
        f"Its .grad is None: the backward pass{place(seen.trace)} reached it, and it was set to "
        f"None after that{how}."
    )


def _blocked(node: AccumulateGrad, log: Log) -> list[str]:
    """Custom functions whose backward gave None."""
    silent: list[Blocked] = []
    if log.last is not None:
        silent = [each for each in log.last.blocked if each.silent and node in each.leaves]
    return [
        f"{each.node}{place(each.trace)} received a gradient and gave None for it: "
        f"{reason_of(each)}. Return a gradient for every input that requires grad."
        for each in silent
    ]


def _asked_for_others(node: AccumulateGrad, log: Log) -> list[str]:
    last = log.last
    if last is None or node not in last.leaves or not last.restricted:
        return []
    if last.returns:
        return [
            f"The last backward pass{place(last.trace)} was one of torch.autograd.grad(), which "
            "returns the gradients it is asked for and leaves .grad alone."
        ]
    return [
        f"The last backward pass{place(last.trace)} was asked for the gradients of other tensors "
        "only: backward(inputs=...) names them."
    ]


def lost_on_the_way(node: AccumulateGrad, log: Log) -> list[str]:
    """The lines where what was computed from a leaf lost its history.

    Those first whose results took part in the last backward pass; else all whose results were used.
    """
    mine = [cut for cut in log.lines.values() if node in cut.leaves]
    fed = [cut for cut in mine if cut.fed is not None and cut.fed() is log.last is not None]
    used = fed or [cut for cut in mine if cut.used or cut.left is not None]
    if not used:
        return []
    lines = ["It was used, but what was computed from it lost its history:"]
    lines += [f"  {cut.how}{place(cut.trace)}{_left(cut)}" for cut in used]
    kinds = ["numbers" if cut.left is not None else cut.kind for cut in used]
    return [*lines, *dict.fromkeys(map(restored_by, kinds))]


def _left(cut: Cut) -> str:
    return "" if cut.left is None else f", and went on by {cut.left.name}{place(cut.left.trace)}"


def _elsewhere(x: object, node: AccumulateGrad, log: Log, owners: Any) -> list[str]:
    """What is known of a leaf that the backward passes so far do not lead to."""
    use, before = log.uses.get(node), log.unrecorded.get(x)
    if use is None and before is not None:
        return [
            f"{before.name}(){place(before.trace)} used it while it did not require grad: call "
            "requires_grad_() before that line."
        ]
    lines = []
    made = log.made.get(x)
    if made is not None and made.name.startswith("copy."):
        lines.append(f"It is a copy, made by {made.name}{place(made.trace)}.")
    if use is None:
        lines.append(
            f"No operator has used {owners.name or 'it'} inside watch(): is its layer called?"
        )
    else:
        lines.append(f"It was used last by {use.name}(){place(use.trace)}.")
    last = log.last
    if last is None:
        lines.append("No backward pass has run inside watch(): call backward() on the loss.")
    else:
        lines.append(
            f"The last backward pass{place(last.trace)} began at {_calls(last.began)}, which was "
            "not computed from it."
        )
    return lines


NOT_WATCHED = "Run the program inside tapegrad.inspect.watch() and ask again: "


class Explanation:
    """What `explain` found: a list of lines, which prints as text."""

    def __init__(self, lines: list[str]):
        self.lines = lines

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


def explain(x: object) -> Explanation:
    """Say in words why `.grad` of a tensor is None, or zero, and where its history was lost.

    It tells of a tensor what it is, which operator made it and where, why it has no gradient or one
    of zeros, which backward pass freed the graph behind it or who holds that and how many bytes it
    keeps. Lines of your code are known of what ran inside `tapegrad.inspect.watch()`.

    Raises:
        TypeError: `x` is no tensor.

    >>> w = torch.ones(3, requires_grad=True)
    >>> y = w * 2
    >>> y.sum().backward()
    >>> print(tapegrad.inspect.explain(y))
    This was made by MulBackward0: [3] float32, all 2.
    Its .grad is None: only leaves keep their gradient. Call retain_grad() on it before backward().
    What its node kept was freed by a backward pass: ...
    """
    if not isinstance(x, Tensor):
        raise type_error(
            f"explain() takes a tensor, not {type(x).__name__}",
            "Of a model, ask for one of its parameters.",
        )
    log = latest()
    node = node_behind(x)
    lines = [_what(x, node)]
    if node is None:
        lines += _without_history(x, log)
    elif x._grad is not None:
        lines += of_gradient(x, node, log)
    elif type(node) is AccumulateGrad:
        lines += of_lonely_leaf(x, node, log)
    else:
        lines += _result(x, node, log)
    if node is not None and type(node) is not AccumulateGrad:
        lines += _graph(x, node)
    return Explanation(lines)


def _what(x: Any, node: Any) -> str:
    if node is None:
        kind = "This has no history and does not require grad"
    elif type(node) is AccumulateGrad:
        return f"This is a leaf that requires grad: {list(x.shape)} {x.dtype.name}."
    else:
        kind = f"This was made by {type(node).__name__}{place(trace_of(node))}"
    return f"{kind}: {described(x)}."


# --- tensors without history ---------------------------------------------------------------------


def _without_history(x: Any, log: Log | None) -> list[str]:
    lines = origin(x, log)
    if lines:
        return lines
    if x.is_inference():
        return ["It was made in inference mode: make it outside, or clone() it, for a gradient."]
    if isinstance(x, Parameter):
        return ["It is a frozen parameter: requires_grad_(True) lets gradients to it again."]
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        return [f"Tensors of {x.dtype} have no gradient: convert it, as by .float()."]
    lines = ["If it is to be a leaf, call requires_grad_() on it before it is used."]
    if log is None:
        lines.append(NOT_WATCHED + "it notes where a tensor loses its history.")
    return lines


def origin(x: Any, log: Log | None) -> list[str]:
    """Where a tensor without history comes from, and what to do; empty if nobody knows."""
    cuts = () if log is None else log.cuts.get(x, ())
    if cuts:
        lines = [f"Its history was lost by {cut.how}{place(cut.trace)}." for cut in cuts]
        return [*lines, *dict.fromkeys(restored_by(cut.kind) for cut in cuts)]
    if not (x.dtype.is_floating_point or x.dtype.is_complex) or log is None:
        return []
    made, computed = log.made.get(x), log.computed.get(x)
    if computed is not None:
        return [
            f"It was computed by {computed.name}(){place(computed.trace)} from tensors of which "
            "none requires grad: call requires_grad_() before on those that are to have a gradient."
        ]
    if made is not None and made.name.startswith("copy."):
        return [f"It is a copy, made by {made.name}{place(made.trace)}."]
    if made is not None:
        return [
            f"It was made from data by {made.name}(){place(made.trace)}: pass requires_grad=True "
            "there if it is to have a gradient. What NumPy or Python computed has no history."
        ]
    return []


# --- results of operators ------------------------------------------------------------------------


def _result(x: Any, node: Any, log: Log | None) -> list[str]:
    if x.retains_grad:
        last = None if log is None else log.last
        return [
            "Its .grad is None: no backward pass has reached it since retain_grad()."
            + ("" if last is None else f" The last one was{place(last.trace)}.")
        ]
    lines = [
        "Its .grad is None: only leaves keep their gradient. Call retain_grad() on it before "
        "backward()."
    ]
    leaves = [each for each in reachable([node]) if type(each) is AccumulateGrad]
    base = x._base
    if base is not None and type(base._node) is AccumulateGrad:
        lines.append("It is a view of a leaf: the .grad of that leaf has the numbers.")
    elif leaves and all((each.leaf() is None) for each in leaves):
        lines.append(
            "Nobody else has the leaf that it was computed from. If this one is to be the "
            "parameter, make a leaf of it where it is made, by .detach().requires_grad_(), and "
            "update it in place under torch.no_grad()."
        )
        if type(node).__name__ == "ToCopyBackward0":
            lines[-1] += " The dtype= and device= of what makes the leaf need no to() after it."
    return lines


def _graph(x: object, node: NodeLike) -> list[str]:
    """Who freed the graph behind a tensor; else what it keeps, and who holds it."""
    nodes = reachable([node])
    for each in nodes:
        if is_freed(each):
            whose = "its node" if each is node else f"{type(each).__name__} before it"
            return [
                f"What {whose} kept was freed by a backward pass{place(FREED_BY.get(each))}: call "
                "that with retain_graph=True to go through the graph again."
            ]
    n = sum(type(each) is not AccumulateGrad for each in nodes)
    held = "; ".join(holders_of([x])[0])
    return [
        f"Its graph of {n:,} node{'s' * (n != 1)} keeps {bytes_kept(nodes):,} bytes for a backward "
        f"pass{f', held by {held}' if held else ''}."
    ]
