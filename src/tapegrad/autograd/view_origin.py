"""Origins of views: how they were made, which may be written, and node names in messages."""

from tapegrad.autograd.node import Port
from tapegrad.core import errors
from tapegrad.core.annotations import EdgeLike

# How a view was made. With a gradient, only an ordinary one may be written, or looked through
# after its base was.
ORDINARY, NO_GRAD, IN_INFERENCE, MULTI_OUTPUT = "ordinary", "no_grad", "inference", "multi-output"
IN_FUNCTION = "function"  # in the forward of a custom function


def view_error(made: str, edge: EdgeLike, indirect: bool) -> RuntimeError:
    """A view that may not be written in place, or whose base was (`indirect`)."""
    what = "its base or another view of its base has been" if indirect else "is being"
    output = f"Output {_number(edge)} of {short_name(edge)} is a view" if edge is not None else ""
    where = "inference mode" if made is IN_INFERENCE else "no_grad mode"
    if made is MULTI_OUTPUT or made is IN_FUNCTION:
        subject = f"{output} and {what} modified inplace."
        if edge is None:
            subject = f"A view was created in {where} and {what} modified inplace with grad mode "
            subject += "enabled."
    if made is IN_FUNCTION:
        return errors.runtime_error(
            f"{subject} This view was created inside a custom Function (or because an input "
            "was returned as-is) and the autograd logic to handle view+inplace would override "
            "the custom backward associated with the custom Function, leading to incorrect "
            "gradients. This behavior is forbidden. You can fix this by cloning the output of "
            "the custom Function.",
            "clone() it before it is written, or return a clone from forward.",
        )
    if made is MULTI_OUTPUT:
        return errors.runtime_error(
            f"{subject} This view is the output of a function that returns multiple views. "
            "Such functions do not allow the output views to be modified inplace. You should "
            "replace the inplace operation by an out-of-place one.",
            "Index the tensor instead (x[0] for x.unbind()[0]): such a view may be written.",
        )
    subject = (
        f"{output} of a view which was created in" if edge is not None else "A view was created in"
    )
    block, mode = ("no_grad", "with grad mode enabled")
    if made is IN_INFERENCE:
        block, mode = ("inference_mode", "in normal mode")
    return errors.runtime_error(
        f"{subject} {where} and {what} modified inplace {mode}. Given that this use case is "
        "ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
        f"the view and the inplace either both inside the {block} block (if you don't want "
        "the inplace to be tracked) or both outside (if you want the inplace to be tracked).",
        "Make the view again outside the block, or write inside one.",
    )


def _number(edge: EdgeLike) -> int:
    return edge.index if type(edge) is Port else 0


def short_name(edge: EdgeLike) -> str:
    """The name of the node behind an edge, as PyTorch's messages give it: `Mul`, and `Pow1`."""
    name = (edge.node if type(edge) is Port else edge).name()
    head, backward, number = name.rpartition("Backward")
    return head + number.removeprefix("0") if backward and number != "s" else name
