"""Why a leaf has the gradient it has, or none."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.describe import described
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import place
from tapegrad.inspect.log import Blocked, Call, Changed, Cut, Log, Pass
from tapegrad.inspect.remedy import reason_of, restored_by

_ASK_AGAIN = "Run the program inside tapegrad.inspect.watch() and ask again: "


# --- with a gradient -----------------------------------------------------------------------------


def of_gradient(x: Any, node: Any, log: Log | None) -> list[str]:
    """Lines about a tensor that has a gradient."""
    from tapegrad.inspect.ownership import Owners

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
    lines += [_changed(each, leaf) for each in seen.changed if leaf in each.leaves]
    began = f"Nothing but zeros reached it in the backward pass{place(seen.trace)}."
    return lines or [began]


def _changed(changed: Changed, leaf: AccumulateGrad) -> str:
    """What has become zero between nodes, in words."""
    senders = _calls(changed.calls)
    if changed.hooks and len(changed.calls) < 2:
        return f"{senders} sent a gradient that is not zero: a hook has made zeros of it."
    also = ", or a hook made zeros of them" if changed.hooks else ""
    return f"{senders} sent gradients that cancel each other: their sum is zero{also}."


def _not_finite(node: Any, log: Log | None, is_leaf: bool) -> list[str]:
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


def of_lonely_leaf(x: Any, node: AccumulateGrad, log: Log | None) -> list[str]:
    """Lines about a leaf whose `.grad` is None."""
    from tapegrad.inspect.ownership import Owners

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


def _elsewhere(x: Any, node: AccumulateGrad, log: Log, owners: Any) -> list[str]:
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
