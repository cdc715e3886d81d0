"""`torch.compiler`: what programs say to the compiler, of which there is none yet.

`compile` has `torch.compile`, `optimized_module` what it makes of a module, `backends` the names of
compilers, `settings_module` the modules of settings, `decorators` the rest.
"""

from typing import Any

from tapegrad.compiler.backends import get_default_backend, list_backends, set_default_backend
from tapegrad.compiler.compile import compile
from tapegrad.compiler.decorators import (
    allow_in_graph,
    assume_constant_result,
    cudagraph_mark_step_begin,
    disable,
    is_compiling,
    is_dynamo_compiling,
    is_exporting,
    keep_tensor_guards_unsafe,
    load_cache_artifacts,
    load_compiled_function,
    nested_compile_region,
    reset,
    save_cache_artifacts,
    set_enable_guard_collectives,
    set_stance,
    skip_all_guards_unsafe,
    skip_guard_on_globals_unsafe,
    substitute_in_graph,
    wrap_numpy,
)
from tapegrad.core.missing import refuses as _refuses

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "config",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_tensor_guards_unsafe",
    "list_backends",
    "load_cache_artifacts",
    "load_compiled_function",
    "nested_compile_region",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "skip_all_guards_unsafe",
    "skip_guard_on_globals_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]


_refuse = _refuses(__name__)


def __getattr__(name: str) -> Any:
    if name == "config":
        from importlib import import_module

        return import_module("tapegrad.compiler.config")
    return _refuse(name)
