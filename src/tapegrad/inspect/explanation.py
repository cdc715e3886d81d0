"""Why a tensor has the gradient it has, or none."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.describe import described
from tapegrad.autograd.graph import AccumulateGrad
from tapegrad.autograd.trace import FREED_BY, Trace, trace_of
from tapegrad.inspect.watching import Cut, Log, latest, node_behind

_NOT_WATCHED = "Run the program inside tapegrad.inspect.watch() and ask again: "


class Explanation:
    """What `explain` found: a list of lines, which prints as text."""

    def __init__(self, lines: list[str]):
        self.lines = lines

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


def explain(x: Any) -> Explanation:
    """Say in words why `.grad` of a tensor is None, or zero, and where its history was lost.

    It tells of a tensor what it is, which operator made it and where, why it has no gradient or one
    of zeros, which backward pass freed the graph behind it. Lines of your code are known of what
    ran inside `tapegrad.inspect.watch()`.

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
    from tapegrad.errors import advised
    from tapegrad.tensor import Tensor

    if not isinstance(x, Tensor):
        raise advised(
            TypeError(f"explain() takes a tensor, not {type(x).__name__}"),
            "Of a model, ask for one of its parameters.",
        )
    log = latest()
    node = node_behind(x)
    lines = [_what(x, node)]
    if node is None:
        lines += _without_history(x, log)
    elif x._grad is not None:
        lines += _with_gradient(x, node, log)
    elif type(node) is AccumulateGrad:
        lines += _lonely_leaf(node, log)
    elif x.retains_grad:
        lines.append("Its .grad is None: no backward pass has reached it since retain_grad().")
    else:
        lines.append(
            "Its .grad is None: only leaves keep their gradient. Call retain_grad() on it before "
            "backward()."
        )
    if node is not None and type(node) is not AccumulateGrad:
        lines += _graph(node)
    return Explanation(lines)


def _at(trace: Trace | None) -> str:
    """` at file:line`, with the layer where it is known."""
    where = None if trace is None else trace.line()
    if trace is None or where is None:
        return ""
    return f" at {where[0]}:{where[1]}" + (f" in {trace.module}" if trace.module else "")


def _what(x: Any, node: Any) -> str:
    if node is None:
        kind = "This has no history and does not require grad"
    elif type(node) is AccumulateGrad:
        kind = "This is a leaf that requires grad"
        return f"{kind}: {list(x.shape)} {x.dtype.name}."
    else:
        kind = f"This was made by {type(node).__name__}{_at(trace_of(node))}"
    return f"{kind}: {described(x)}."


def _without_history(x: Any, log: Log | None) -> list[str]:
    cut = None if log is None else log.cuts.get(x)
    if cut is not None:
        return [f"Its history was lost by {cut.how}{_at(cut.trace)}."]
    made = None if log is None else log.made.get(x)
    if made is not None:
        name, trace = made
        return [
            f"It was made from data by {name}(){_at(trace)}: pass requires_grad=True there if it "
            "is to have a gradient. What NumPy or Python computed has no history."
        ]
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        return [f"Tensors of {x.dtype} have no gradient."]
    lines = ["If it is to be a leaf, call requires_grad_() on it before it is used."]
    if log is None:
        lines.append(_NOT_WATCHED + "it notes where a tensor loses its history.")
    return lines


def _with_gradient(x: Any, node: Any, log: Log | None) -> list[str]:
    g = x._grad
    lines = [f"Its .grad is {described(g)}."]
    if g._array.any():
        return lines
    reached = None if log is None or type(node) is not AccumulateGrad else log.reached.get(node)
    if reached is None:
        if log is None:
            lines.append(_NOT_WATCHED + "it notes which operator turns a gradient into zeros.")
        return lines
    seen, zero = reached
    if not zero:
        lines.append(f"What the backward pass{_at(seen.trace)} added was not zero: it was reset.")
        return lines
    guilty = [each for each in reversed(seen.zeroed) if node in each.leaves]
    if not guilty:
        lines.append(f"Nothing but zeros reached it in the backward pass{_at(seen.trace)}.")
    for each in guilty:
        lines.append(
            f"{each.name}{_at(each.trace)} received a gradient that is not zero and "
            "sent zeros: its derivative is zero there."
        )
    return lines


def _lonely_leaf(node: AccumulateGrad, log: Log | None) -> list[str]:
    reached = None if log is None else log.reached.get(node)
    if reached is not None:
        return [
            f"Its .grad is None: the backward pass{_at(reached[0].trace)} reached it, and it was "
            "set to None after that, as zero_grad() does."
        ]
    lines = ["Its .grad is None: no backward pass has reached it."]
    if log is None:
        return [*lines, _NOT_WATCHED + "it notes where what is computed from it loses its history."]
    cuts = {(cut.how, _at(cut.trace)): cut for cut in log.recent if _concerns(cut, node)}
    if cuts:
        lines.append("It was used, but what was computed from it lost its history:")
        lines += [f"  {how}{where}" for how, where in cuts]
    elif log.last is not None:
        lines.append(
            f"The last backward pass{_at(log.last.trace)} began at a tensor that was not computed "
            "from it."
        )
    return lines


def _concerns(cut: Cut, leaf: AccumulateGrad) -> bool:
    return cut.used and leaf in cut.leaves


def _graph(node: Any) -> list[str]:
    if node.saved is not None:
        return []
    by = _at(FREED_BY.get(node))
    return [
        f"What its node kept was freed by a backward pass{by}: call that with retain_graph=True to "
        "go through the graph again."
    ]
