"""Why a tensor has the gradient it has, or none."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.describe import described, is_freed
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.reachable import reachable
from tapegrad.autograd.trace import FREED_BY, place, trace_of
from tapegrad.inspect.leaf_explanation import of_gradient, of_lonely_leaf
from tapegrad.inspect.log import Log
from tapegrad.inspect.remedy import restored_by
from tapegrad.inspect.watching import latest, node_behind

NOT_WATCHED = "Run the program inside tapegrad.inspect.watch() and ask again: "


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
    from tapegrad.core.errors import type_error
    from tapegrad.tensors.tensor import Tensor

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
    from tapegrad.nn.parameter import Parameter

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
    elif leaves and all(_is_forgotten(each) for each in leaves):
        lines.append(
            "Nobody else has the leaf that it was computed from. If this one is to be the "
            "parameter, make a leaf of it where it is made, by .detach().requires_grad_(), and "
            "update it in place under torch.no_grad()."
        )
        if type(node).__name__ == "ToCopyBackward0":
            lines[-1] += " The dtype= and device= of what makes the leaf need no to() after it."
    return lines


def _is_forgotten(leaf: AccumulateGrad) -> bool:
    return leaf.leaf() is None


def _graph(x: Any, node: Any) -> list[str]:
    """Who freed the graph behind a tensor; else what it keeps, and who holds it."""
    nodes = reachable([node])
    for each in nodes:
        if is_freed(each):
            whose = "its node" if each is node else f"{type(each).__name__} before it"
            return [
                f"What {whose} kept was freed by a backward pass{place(FREED_BY.get(each))}: call "
                "that with retain_graph=True to go through the graph again."
            ]
    from tapegrad.inspect.living import bytes_kept, holders_of

    n = sum(type(each) is not AccumulateGrad for each in nodes)
    held = "; ".join(holders_of([x])[0])
    return [
        f"Its graph of {n:,} node{'s' * (n != 1)} keeps {bytes_kept(nodes):,} bytes for a backward "
        f"pass{f', held by {held}' if held else ''}."
    ]
