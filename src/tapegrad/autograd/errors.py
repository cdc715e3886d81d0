"""Errors of a backward pass: values that were freed, and values that were written since."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, NodeLike
from tapegrad.core.dtype import of


def freed(node: NodeLike = None) -> RuntimeError:
    """A second walk through a graph whose saved values are gone; `node` is where it ended."""
    from tapegrad.autograd.trace import freed_by

    by = "" if node is None else freed_by(node)
    return errors.advised(
        RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed). Saved intermediate values of the graph are freed "
            "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
            "to backward through the graph a second time or if you need to access saved tensors "
            "after calling backward."
        ),
        f"Pass retain_graph=True to the first call{by}, or compute the forward pass again.",
    )


def modified(
    array: Any, version: Any, expected: int, origin: str, node: NodeLike = None
) -> RuntimeError:
    """A tensor that was written in place after it was saved for the backward pass, by `node`."""
    from tapegrad.autograd.trace import anomaly, place, trace_of

    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The "
        "variable in question was changed in there or anywhere later. Good luck!"
        if anomaly[0]
        else "enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    kind = errors.tensor_type(of(array.dtype))
    source = f", which is {origin}," if origin else ""
    where = " at {}:{}".format(*version.line) if version.line else ""
    saved = "" if node is None else place(trace_of(node))
    saved = saved and f"{node.name()} saved the tensor{saved}. "
    return errors.advised(
        RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: [{kind} {list(array.shape)}]{source} is at version "
            f"{version.value}; expected version {expected} instead. Hint: {hint}"
        ),
        f"{saved}The last write was {version.operator}{where}. Write out of place there, or "
        "clone() the tensor before it is written.",
    )
