"""Reports of anomaly mode: what is wrong with a gradient, and where it comes from."""

import warnings

import numpy as np

from tapegrad.autograd.describe import array_of, saved_by, saved_name, statistics, target_name
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.trace import n_own_frames, trace_of
from tapegrad.core.annotations import Any, Array, NodeLike, Sequence
from tapegrad.core.errors import advised


def squares(g: Array) -> Any:
    """The sum of the squares of a gradient: nan if and only if one of them is, 0 for no numbers."""
    array = array_of(g)
    if type(array) is not np.ndarray:
        return 0.0
    kind = array.dtype.kind
    if kind == "V":  # bfloat16
        return np.square(array.astype(np.float32)).sum()
    if kind not in "fc":
        return 0.0
    if 0 in array.strides:  # repeated numbers: look at each once
        array = array[tuple([slice(None) if s else slice(1) for s in array.strides])]
    flat = array.ravel("K")  # in the order of memory: a copy is not needed for it
    if kind == "c":
        flat = flat.view(flat.real.dtype)
    return np.vdot(flat, flat)


def is_infinite(g: Array) -> bool:
    """Whether one of the numbers of a gradient is."""
    return bool(np.isinf(array_of(g)).any())


def is_view(g: Array, received: object) -> bool:
    """Whether a gradient is what came in, or a view of it, as of a transposed matrix."""
    base = getattr(g, "base", None)
    return g is received or (
        base is not None and (base is received or base is getattr(received, "base", None))
    )


def anomaly_error(
    node: NodeLike, grads: Sequence, i: int, what: str, received: object, infinity: str
) -> RuntimeError:
    """The error for one of the gradients that a node gave, with what it was computed from.

    `what` is `"nan"` or `"infinite"`, `infinity` tells of the first one of the pass.
    """
    _tell(node)
    error = RuntimeError(
        f"Function '{type(node).__name__}' returned {what} values in its "
        f"{_output(node, len(grads), i)}th output."
    )
    array = np.asarray(array_of(grads[i]))
    bad = np.isnan(array) if what == "nan" else np.isinf(array)
    at = _first(bad)
    lines = [f"{int(bad.sum())} of {bad.size} elements are {what}{_at_index(at)}."]
    if infinity:
        lines.append(f"The first infinity of this backward pass was {infinity}.")
    lines += _inputs(node, received, at)
    lines.append(_line(node, _ADVICE))
    return advised(error, "\n".join(lines))


def explain_failure(error: Exception, node: NodeLike, received: object, what: str = "") -> None:
    """Tell of the forward call of a node that raised, and note in the error what it worked on.

    `what` of the node it was, `"A hook of "`, where it was not the node itself.
    """
    _tell(node)
    lines = [f"{what}{target_name(node)} failed.", *_inputs(node, received, None)]
    if type(node) is not AccumulateGrad:
        lines.append(_line(node))
    error.add_note("\n".join(lines))


def infinity_in_words(node: NodeLike, g: Array) -> str:
    """Which node made an infinity, at which index, and where it was called."""
    at = _first(np.isinf(array_of(g)))
    trace = trace_of(node)
    where = None if trace is None else trace.line()
    called = "" if where is None else f", of the operator called at {where[0]}:{where[1]}"
    return f"made by {type(node).__name__}{_at_index(at)}{called}"


_ADVICE = (
    "Keep what goes in away from where its derivative is not finite: clamp() it, or choose with "
    "where() before."
)


def _first(bad: Any) -> tuple[int, ...]:
    """The index of the first element that is true."""
    return tuple([int(k) for k in np.argwhere(bad)[0]])


def _at_index(at: tuple[int, ...]) -> str:
    return f", the first at {list(at)}" if at else ""


def _output(node: NodeLike, n: int, i: int) -> int:
    """Which of the outputs that a user sees the `i`-th of `n` gradients is."""
    plan = node.plan
    rules = plan.rules if hasattr(plan, "rules") and not plan.op.variadic else ()
    if n == len(rules) != len(node.edges):  # no more than what the rules gave
        i = rules[i][0]
    hidden = plan.op.hidden if hasattr(plan, "op") else ()
    return i - sum(each < i for each in hidden)


def _inputs(node: NodeLike, received: object, at: tuple[int, ...] | None) -> list[str]:
    """What a node computes its gradients from: sizes, statistics, and the numbers at an index."""
    values = {"the gradient that came in": received}
    values.update({saved_name(name): value for name, value in saved_by(node).items()})
    lines = ["The gradient was computed from:"]
    for name, value in values.items():
        array = array_of(value)
        there = ""
        if at and isinstance(array, np.ndarray) and len(at) == array.ndim:
            if all(k < n for k, n in zip(at, array.shape, strict=True)):
                there = f"; {array[at]:.4g} at {list(at)}"
        lines.append(f"  {name}: {statistics(value)}{there}")
    return lines


def _line(node: NodeLike, advice: str = "") -> str:
    """Where the operator was called, and what to do there."""
    trace = trace_of(node)
    where = None if trace is None else trace.line()
    if where is None:
        return "Run the forward pass in anomaly mode, too, to know which line called the operator."
    return f"The operator was called at {where[0]}:{where[1]}. {advice}".rstrip()


# --- warnings ------------------------------------------------------------------------------------


def _tell(node: NodeLike) -> None:
    """Warn with the forward call that made a node, and what induced that."""
    name, trace = node.name(), trace_of(node)
    if trace is None:
        _warn(
            f"Error detected in {name}. No forward pass information available. Enable detect "
            "anomaly during forward pass for more information."
        )
        return
    _warn(
        f"Error detected in {name}. Traceback of forward call that caused the error:\n"
        f"{trace.text()}"
    )
    parent = trace.parent
    while parent is not None:
        name, induced, _ = parent
        if induced is None:
            _warn(
                f"\n\nPrevious calculation was induced by {name}. No forward pass information "
                "available. Enable detect anomaly during forward pass for more information."
            )
            return
        _warn(
            f"\n\nPrevious calculation was induced by {name}. Traceback of forward call that "
            f"induced the previous calculation:\n{induced.text()}"
        )
        parent = induced.parent


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=n_own_frames() + 1)
