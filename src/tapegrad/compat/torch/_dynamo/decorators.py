"""`torch._dynamo.decorators`: where PyTorch has what programs say to a compiler."""

from tapegrad.compat.torch._dynamo import (
    disallow_in_graph,
    dont_skip_tracing,
    error_on_graph_break,
    forbid_in_graph,
    graph_break,
    mark_dynamic,
    mark_static,
    mark_static_address,
    maybe_mark_dynamic,
    nonstrict_trace,
    patch_dynamo_config,
    run,
    skip_frame,
)
from tapegrad.compiler.decorators import (
    allow_in_graph,
    assume_constant_result,
    disable,
    set_stance,
    substitute_in_graph,
)
from tapegrad.core.missing import refuses as _refuses

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "disallow_in_graph",
    "dont_skip_tracing",
    "error_on_graph_break",
    "forbid_in_graph",
    "graph_break",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "nonstrict_trace",
    "patch_dynamo_config",
    "run",
    "set_stance",
    "skip_frame",
    "substitute_in_graph",
]

__getattr__ = _refuses(__name__)
