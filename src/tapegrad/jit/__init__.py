"""`torch.jit`: scripted functions, which run as the Python they are, and traces, replayed.

modifiers         marks of functions and methods: `ignore`, `unused`, `export`, ...
container_types   `isinstance`
_script           `script` and what it gives
_trace            `trace` and what it gives, on top of `recorder` and `program`
_serialization    `save`, `load`
"""

from typing import Final

from tapegrad.core.missing import refuses as _refuses
from tapegrad.jit import _state, annotations
from tapegrad.jit._async import Future, fork, wait
from tapegrad.jit._errors import Error
from tapegrad.jit._freeze import freeze, optimize_for_inference, run_frozen_optimizations
from tapegrad.jit._fuser import (
    enable_onednn_fusion,
    fuser,
    last_executed_optimized_graph,
    onednn_fusion_enabled,
    optimized_execution,
    set_fusion_strategy,
    strict_fusion,
)
from tapegrad.jit._script import (
    CompilationUnit,
    RecursiveScriptModule,
    ScriptFunction,
    ScriptModule,
    ScriptWarning,
    script,
)
from tapegrad.jit._serialization import load, save
from tapegrad.jit._state import is_scripting
from tapegrad.jit._trace import (
    TopLevelTracedModule,
    TracedModule,
    TracerWarning,
    TracingCheckError,
    is_tracing,
    script_if_tracing,
    trace,
    trace_module,
)
from tapegrad.jit.container_types import is_instance as _isinstance
from tapegrad.jit.modifiers import (
    Attribute,
    _drop,
    _overload,
    _overload_method,
    _unwrap_optional,
    annotate,
    export,
    ignore,
    interface,
    script_method,
    unused,
)

isinstance = _isinstance
_script_if_tracing = script_if_tracing

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "Future",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]


def _unique_state_dict(module, keep_vars=False):
    """The `state_dict` of a module, each tensor once, under its first name."""
    found = {}
    seen = set()
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            found[name] = value if keep_vars else value.detach()
    return found


__getattr__ = _refuses(__name__)
