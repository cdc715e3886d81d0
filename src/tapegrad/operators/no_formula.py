"""Results that are in the graph but have no derivative: PyTorch's node NotImplemented."""

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array
from tapegrad.dispatch.op import primitive


@primitive(name="no_formula", node="NotImplemented", outputs="many")
def no_formula(xp, *tensors, found, name):
    """The arrays `found`, computed from the tensors by the function `name`."""
    return [xp.asarray(each) for each in found]


def _refused(g: Any, name: str) -> Array:
    raise errors.runtime_error(
        f"derivative for aten::{name} is not implemented",
        "PyTorch has no formula for it: detach() the tensor, or use a function that has one.",
    )


no_formula.vjp(tensors=_refused)


def in_graph(name: str, found: tuple, *tensors: Any) -> tuple:
    """The tensors `found`, in the graph if one that they were computed from requires grad.

    Asking for a gradient through them raises, as in PyTorch, under the function's `name`.
    """
    if not is_grad_enabled():
        return found
    sources = [x for x in tensors if x is not None and x.requires_grad]
    if not sources:
        return found
    return tuple(no_formula(*sources, found=[x._array for x in found], name=name))
