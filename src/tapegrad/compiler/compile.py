"""`torch.compile`: its arguments, and what it gives back."""

from __future__ import annotations

from tapegrad.compiler import backends
from tapegrad.compiler.optimized_module import OptimizedModule
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised, runtime_error
from tapegrad.nn.modules.module import Module

__torch__ = "compile"

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
    example_inputs: Any = None,
) -> Any:
    """A function that is recorded when it is called, and runs as the program that came of it.

    The first call runs as it is, the second is recorded while it runs, later ones run the program:
    NumPy source, or C where a compiler is found. It holds for arguments of the same shapes, dtypes
    and strides, and while all that the function has read is as it was: modules, their flags and
    hooks, options of optimizers, globals. Otherwise a call is recorded anew, at most
    `recompile_limit` times. A call of which no program can be made runs as it is, and one warning
    says why. A function may train: forward, `backward()`, `optimizer.step()` become one program,
    and parameters, `.grad` and the optimizer's state are what they would be.

    What is given back is called as the function was. It has `source`, the program as text;
    `explain()`, what it depends on and why it was recorded again; and `save(path)`. A module is put
    in an `OptimizedModule`. Without `model` it gives a decorator.

    Args:
        model: a function or module; for None, a decorator is returned
        fullgraph: raise `torch._dynamo.exc.Unsupported` where no program can be made of a call
        backend: "inductor" or "auto" for the fastest that there is, "numpy" for NumPy source, whose
            results are eager's bit for bit, "c" for C, "eager" for the function as it is; or a
            function, or the name of a registered one, that is given a `torch.fx.GraphModule` and
            a list of tensors, and returns what runs with these; it is given `options`, too
        mode, options: either may be given, and must be known; without effect
        dynamic: False compiles each shape for itself; else the programs of calls whose tensors
            differ in size alone have one compiled file, which is given the sizes
        disable: give `model` itself back
        recompile_limit: programs of one function at most; 8 by default
        example_inputs: the second call need not be waited for: the first one is recorded
        name, isolate_recompiles, shapes_spec: without effect

    Raises:
        RuntimeError: both mode and options, or unknown ones; an unknown backend
        AssertionError: the model cannot be called

    >>> @torch.compile(backend="numpy")
    ... def f(x):
    ...     return (x * 2 + 1).tanh()
    >>> for _ in range(3):
    ...     y = f(torch.ones(2))
    >>> y
    tensor([0.9951, 0.9951])
    """
    if model is None:
        given = dict(
            fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options,
            name=name, disable=disable, recompile_limit=recompile_limit,
            isolate_recompiles=isolate_recompiles, shapes_spec=shapes_spec,
            example_inputs=example_inputs,
        )  # fmt: skip
        return lambda function: compile(_callable(function), **given)
    if mode is not None and options is not None:
        raise runtime_error(
            "Either mode or options can be specified, but both can't be specified at the same "
            "time.",
            "Leave both away: neither has an effect here.",
        )
    if disable:
        return model
    if backend is None:
        backend = backends.get_default_backend()
    if backend == "inductor":
        _check_mode(mode)
        _check_options(options or {})
    else:
        backends.check(backend)
    _callable(model)
    if isinstance(model, OptimizedModule) or hasattr(type(model), "is_compiled"):
        return model  # it is compiled
    if backend in _AS_IT_IS:
        return OptimizedModule(model) if isinstance(model, Module) else model
    if backends.is_programs(backend):
        from tapegrad.compiler.graph_backend import GraphCompiled

        traced = GraphCompiled(
            model, backends.lookup_backend(backend), fullgraph, recompile_limit, options
        )
        return OptimizedModule(model, traced) if isinstance(model, Module) else traced
    from tapegrad.compiler.compiled import MOST, Compiled
    from tapegrad.compiler.runner import Builder

    compiled = Compiled(
        model,
        Builder(_BACKENDS.get(str(backend), "auto"), dynamic is not False),
        fullgraph=fullgraph,
        at_once=example_inputs is not None,
        most=MOST if recompile_limit is None else recompile_limit,
        dynamic=dynamic is not False,
    )
    if isinstance(model, Module):
        return OptimizedModule(model, compiled)
    if example_inputs is not None:
        compiled(*example_inputs)
    return compiled


_AS_IT_IS = ("eager", "eager_noexcept", "eager_debug", "pre_dispatch_eager")
_BACKENDS = {
    "numpy": "numpy",
    "c": "c",
    "aot_eager": "numpy",
    "aot_eager_decomp_partition": "numpy",
    "aot_eager_default_partitioner": "numpy",
}


def _callable(model: Any) -> Any:
    if not callable(model):
        raise advised(
            AssertionError(f"A callable function is expected, but {type(model)} is provided."),
            "Pass a function or a module.",
        )
    return model


def _check_mode(mode: str | None) -> None:
    if mode is not None and mode not in MODES:
        raise runtime_error(
            f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}",
            "Leave mode= away: it has no effect here.",
        )


def _check_options(options: dict[str, Any]) -> None:
    from tapegrad.compat.torch._inductor import config

    known = vars(config)["_values"]
    for name, value in options.items():
        key = name.replace("-", "_")
        if key in ("guard_filter_fn",):
            continue
        if key not in known:
            raise runtime_error(
                f"Unexpected optimization option {name}, known options are {list(known)}",
                "Leave options= away: they have no effect here.",
            )
        if known[key] is not None and type(value) is not type(known[key]):
            raise runtime_error(
                f"Unexpected type of attr {name}, got {type(value).__name__} should be "
                f"{type(known[key]).__name__}",
                "Leave options= away: they have no effect here.",
            )
