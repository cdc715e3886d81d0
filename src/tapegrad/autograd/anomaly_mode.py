"""Anomaly mode: which line of the forward pass a failing backward pass comes from.

>>> x = torch.tensor([0.0, 4.0], requires_grad=True)
>>> with torch.autograd.set_detect_anomaly(True):
...     y = (x.sqrt() * x).sum()
>>> torch.is_anomaly_enabled()
False
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.autograd.describe import described, kept_by
from tapegrad.autograd.graph import AccumulateGrad
from tapegrad.autograd.layered import layer_of, stripped
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.trace import Trace, Tracing, n_own_frames, trace_of
from tapegrad.errors import advised

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class Anomaly(Tracing):
    """Notes where nodes are made, and looks at what they give in the backward pass."""

    __slots__ = ("check_inf", "check_nan")

    def __init__(
        self,
        under: Any,
        check_nan: bool,
        check_inf: bool,
        parent: tuple[str, Trace | None] | None = None,
    ):
        super().__init__(under, parent)
        self.check_nan = check_nan
        self.check_inf = check_inf

    def over(self, under: Any) -> Anomaly:
        return Anomaly(under, self.check_nan, self.check_inf, self.parent)

    def backward_node(self, node: Any, function: Callable, args: tuple) -> Any:
        if type(node) is AccumulateGrad:
            return super().backward_node(node, function, args)
        outer = self.parent
        if self.grad:
            self.parent = type(node).__name__, trace_of(node)
        try:
            grads = super().backward_node(node, function, args)
        except Exception:
            _tell(node)
            raise
        finally:
            self.parent = outer
        if self.check_nan or self.check_inf:
            for i, g in enumerate(grads):
                what = None if _is_seen(g, args[1]) else self._wrong(g)
                if what is not None:
                    _tell(node)
                    raise _bad_gradient(node, i, g, what, args[1])
        return grads

    def _wrong(self, g: Any) -> str | None:
        """What is wrong with a gradient: `"nan"`, `"infinite"`, or nothing."""
        array = getattr(g, "_array", g)
        if type(array) is not np.ndarray or array.dtype.kind not in "fc":
            return None
        if 0 in array.strides:  # repeated numbers: look at each once
            array = array[tuple([slice(None) if s else slice(1) for s in array.strides])]
        flat = array.ravel("K")  # in the order of memory: a copy is not needed for it
        total = np.vdot(flat, flat)  # the sum of squares: nan if and only if one of them is
        if self.check_nan and total != total:
            return "nan"
        if self.check_inf and not np.isfinite(total) and np.isinf(array).any():
            return "infinite"
        return None


def _is_seen(g: Any, received: Any) -> bool:
    """Whether a gradient is a view of what came in, as of a transposed matrix: it was looked at."""
    base = getattr(g, "base", None)
    return base is not None and (base is received or base is getattr(received, "base", None))


def _tell(node: Any) -> None:
    """Warn with the forward call that made a node, and what induced that."""
    name, trace = type(node).__name__, trace_of(node)
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
        name, induced = parent
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


def _bad_gradient(node: Any, i: int, g: Any, what: str, cotangent: Any) -> RuntimeError:
    """The error for output `i` of a node, with what it was computed from."""
    error = RuntimeError(
        f"Function '{type(node).__name__}' returned {what} values in its {i}th output."
    )
    array = getattr(g, "_array", g)
    bad = np.isnan(array) if what == "nan" else np.isinf(array)
    first = [int(k) for k in np.argwhere(bad)[0]]
    lines = [
        f"{int(bad.sum())} of {bad.size} elements are {what}, the first at {first}. "
        f"The gradient was computed from:",
        f"  the gradient that came in: {described(cotangent)}",
        *(f"  {name}: {described(value)}" for name, value in kept_by(node).items()),
    ]
    trace = trace_of(node)
    line = None if trace is None else trace.line()
    if line is not None:
        lines.append(
            f"The operator was called at {line[0]}:{line[1]}. Keep what goes in away from where "
            "its derivative is not finite: clamp() it, or choose with where() before."
        )
    return advised(error, "\n".join(lines))


class set_detect_anomaly:
    """Switch anomaly mode on or off: at once as a statement, for a block as a context manager.

    As a statement it holds until the innermost block of `no_grad()` or the like ends, and for the
    thread and the asynchronous task it is in.

    Args:
        mode: whether operators note where they were called, and nodes that fail say so.
        check_nan: whether a node that gives nan in the backward pass raises.
        check_inf: the same for infinity; PyTorch has no such option.

    >>> torch.autograd.set_detect_anomaly(True)
    <...set_detect_anomaly object at ...>
    >>> torch.is_anomaly_enabled()
    True
    >>> _ = torch.autograd.set_detect_anomaly(False)
    """

    def __init__(self, mode: bool, check_nan: bool = True, *, check_inf: bool = False):
        self._before = layer_of(Anomaly)
        self._put(Anomaly(True, check_nan, check_inf) if mode else None)

    @staticmethod
    def _put(anomaly: Anomaly | None) -> None:
        under = stripped(MODE.get(), Anomaly)
        MODE.set(under if anomaly is None else anomaly.over(under))

    def __enter__(self) -> None:
        """The mode was set when the object was made; leaving the block takes it back."""

    def __exit__(self, *error: object) -> None:
        self._put(self._before)


class detect_anomaly:
    """Context manager in which a backward pass that fails or gives nan says which call is to blame.

    Operators inside note the lines that called them. When a node of theirs fails in the backward
    pass, or gives nan, a warning shows that traceback, and the error for nan says at which index,
    and how what it was computed from looks.

    Args:
        check_nan: whether nan raises.
        check_inf: whether infinity raises; PyTorch has no such option.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = torch.tensor([0.0, 4.0], requires_grad=True)
    >>> with torch.autograd.detect_anomaly():
    ...     y = (x - x).sqrt() * 0
    ...     y.sum().backward()
    Traceback (most recent call last):
        ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    ...
    """

    def __init__(self, check_nan: bool = True, *, check_inf: bool = False):
        self._options = check_nan, check_inf
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        check_nan, check_inf = self._options
        self._set = set_detect_anomaly(True, check_nan, check_inf=check_inf)

    def __exit__(self, *error: object) -> None:
        self._set.__exit__()


def is_anomaly_enabled() -> bool:
    """Whether the current context is in anomaly mode.

    >>> torch.is_anomaly_enabled()
    False
    """
    return layer_of(Anomaly) is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether nan in a backward pass would raise in anomaly mode.

    >>> torch.is_anomaly_check_nan_enabled()
    True
    """
    anomaly = layer_of(Anomaly)
    return True if anomaly is None else anomaly.check_nan
