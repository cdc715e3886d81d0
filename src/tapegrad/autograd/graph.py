"""`torch.autograd.graph`: nodes, edges as gradients' targets, hooks on what a graph saves."""

from typing import Any

from tapegrad.autograd.node import Node
from tapegrad.core.lazy import found
from tapegrad.core.missing import missing

_PUBLIC = {
    "tapegrad.autograd.gradient_edge": "GradientEdge get_gradient_edge increment_version",
    "tapegrad.autograd.multi_hook": "register_multi_grad_hook",
    "tapegrad.autograd.mutation": "allow_mutation_on_saved_tensors",
    "tapegrad.autograd.saved_tensor_hooks": (
        "disable_saved_tensors_hooks save_on_cpu saved_tensors_hooks"
    ),
    "tapegrad.autograd.stream": (
        "set_override_stale_capture_stream set_warn_on_accumulate_grad_stream_mismatch"
    ),
}
"""For each file, the names of `torch.autograd.graph` that it has, besides `Node`."""

__all__ = ["Node", *[name for names in _PUBLIC.values() for name in names.split()]]


def __getattr__(name: str) -> Any:
    """A name of a file that is loaded on its first use."""
    value = found(_PUBLIC, name)
    if value is None:
        raise missing(__name__, name)
    globals()[name] = value
    return value
