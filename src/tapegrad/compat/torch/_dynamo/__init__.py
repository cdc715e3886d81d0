"""PyTorch's tracing of bytecode, by the names that programs call: nothing is traced.

What says how to compile is kept or ignored. `explain` records a call while it runs; `export`, whose
graph is to hold for other calls too, raises.
"""

import warnings
from contextlib import contextmanager

from tapegrad.compat.torch._dynamo import config, eval_frame, exc, external_utils, utils
from tapegrad.compat.torch._dynamo.eval_frame import (
    OptimizedModule,
    is_dynamo_supported,
    is_inductor_supported,
)
from tapegrad.compiler.backends import list_backends, lookup_backend, register_backend
from tapegrad.compiler.compile import compile as _compile
from tapegrad.compiler.decorators import (
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    reset,
    set_stance,
    substitute_in_graph,
)
from tapegrad.compiler.graphs.output_graph import OutputGraphs, break_graph
from tapegrad.compiler.graphs.tensor_names import tensor_names
from tapegrad.core.errors import not_implemented
from tapegrad.core.missing import refuses as _refuses

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "dont_skip_tracing",
    "error_on_graph_break",
    "explain",
    "export",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "nonstrict_trace",
    "optimize",
    "optimize_assert",
    "patch_dynamo_config",
    "register_backend",
    "reset",
    "run",
    "set_stance",
    "skip_frame",
    "step_unsupported",
    "substitute_in_graph",
]

patch_dynamo_config = config.patch  # type: ignore[attr-defined]  # a module of settings


def optimize(backend=None, *, nopython=False, disable=False, dynamic=None, **kwargs):
    """A decorator: `torch.compile` with these options."""
    return _compile(fullgraph=nopython, backend=backend, disable=disable, dynamic=dynamic)


def optimize_assert(backend=None, **kwargs):
    """A decorator: `torch.compile` that would not break graphs."""
    return optimize(backend, nopython=True)


def _as_it_is(fn=None):
    return (lambda function: function) if fn is None else fn


run = dont_skip_tracing = nonstrict_trace = disallow_in_graph = forbid_in_graph = _as_it_is


def graph_break(msg=""):
    """Where the compiler would break a graph, as `explain` tells; else nothing happens."""
    break_graph("Call to `torch._dynamo.graph_break()`")


def skip_frame(msg=""):
    """Where the compiler would leave a function alone: nothing happens."""


step_unsupported = skip_frame


@contextmanager
def error_on_graph_break(error_on_graph_break):
    """A block in which breaks of graphs would be errors, or not."""
    yield


def export(f, *extra_args, **extra_kwargs):
    """Raises NotImplementedError: no graph is made."""
    raise not_implemented(
        "tapegrad does not trace bytecode: there is no graph to export",
        "torch.jit.trace(function, example_inputs).graph shows the operators of one call.",
    )


def explain(f, *extra_args, **extra_kwargs):
    """A function that calls `f` and tells its graphs of operators: where one ends, and why.

    A graph ends where Python reads the values of a tensor, or at `graph_break()`.

    >>> def f(x):
    ...     return x + 1 if (x * 2).sum() > 0 else x
    >>> found = torch._dynamo.explain(f)(torch.ones(2))
    >>> found.graph_count, found.graph_break_count
    (2, 1)
    """

    def inner(*args, **kwargs):
        from tapegrad.compiler.graphs.explain_output import explained

        recorder = OutputGraphs(tensor_names(f, args, kwargs))
        result = recorder.call(f, args, kwargs)
        graphs = recorder.finished(result)
        return explained(graphs, recorder.break_reasons)

    if not extra_args and not extra_kwargs:
        return inner
    warnings.warn(
        "explain(f, *args, **kwargs) is deprecated, use explain(f)(*args, **kwargs) instead.  If "
        "you don't migrate, we may break your explain call in the future if your user defined "
        "kwargs conflict with future kwargs added to explain(f).",
        FutureWarning,
        stacklevel=2,
    )
    return inner(*extra_args, **extra_kwargs)


# --- notes on tensors, which stay there as PyTorch has them ---------------------------------------


def _mark(tensor, attribute, index):
    marked = tensor.__dict__.setdefault(attribute, set())
    marked.update(range(tensor.dim()) if index is None else _indices(index))


def _indices(index):
    return index if isinstance(index, list | tuple) else (index,)


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Note that the size of a dimension of `t` changes from call to call."""
    _mark(t, "_dynamo_dynamic_indices", index)


def maybe_mark_dynamic(t, index):
    """Note that the size of a dimension of `t` may change from call to call."""
    _mark(t, "_dynamo_weak_dynamic_indices", index)


def mark_static(t, index=None):
    """Note that the size of a dimension of `t` does not change; a class of modules as it is."""
    if isinstance(t, type):
        t._dynamo_marked_static = True
        return t
    _mark(t, "_dynamo_static_indices", index)
    return None


def mark_static_address(t, guard=False):
    """Note that `t` will always be in the same memory."""
    t._dynamo_static_input_type = "guarded" if guard else "unguarded"


__getattr__ = _refuses(__name__)
