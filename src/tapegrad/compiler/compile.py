"""`torch.compile`: what it is given back, as there is no compiler yet."""

from __future__ import annotations

import warnings

from tapegrad.compiler import backends
from tapegrad.compiler.optimized_module import OptimizedModule
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised, runtime_error
from tapegrad.nn.modules.module import Module

__torch__ = "compile"

MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_warned = False


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
) -> Any:
    """The function as it is, or the module in an `OptimizedModule`: nothing is compiled.

    The first call that would compile warns of that. Without `model` it gives a decorator.

    Args:
        model: a function or module; for None, a decorator is returned
        backend: a compiler or its name, which must be known; it is not called
        mode, options: either may be given, and must be known
        disable: give `model` itself back, and do not warn
        fullgraph, dynamic, name, recompile_limit, isolate_recompiles, shapes_spec: without effect

    Raises:
        RuntimeError: both mode and options, or unknown ones; an unknown backend
        AssertionError: the model cannot be called

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = torch.compile(torch.nn.Linear(2, 1))
    >>> model
    OptimizedModule(
      (_orig_mod): Linear(in_features=2, out_features=1, bias=True)
    )
    >>> sorted(model.state_dict())
    ['_orig_mod.bias', '_orig_mod.weight']
    """
    if model is None:
        given = dict(
            fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options,
            name=name, disable=disable, recompile_limit=recompile_limit,
            isolate_recompiles=isolate_recompiles, shapes_spec=shapes_spec,
        )  # fmt: skip
        return lambda function: compile(_callable(function), **given)
    if mode is not None and options is not None:
        raise runtime_error(
            "Either mode or options can be specified, but both can't be specified at the same "
            "time.",
            "Leave both away: nothing is compiled here.",
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
    _warn_once()
    return OptimizedModule(model) if _is_plain_module(model) else model


def _is_plain_module(model: Any) -> bool:
    return isinstance(model, Module) and not isinstance(model, OptimizedModule)


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
            "Leave mode= away: nothing is compiled here.",
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
                "Leave options= away: nothing is compiled here.",
            )
        if known[key] is not None and type(value) is not type(known[key]):
            raise runtime_error(
                f"Unexpected type of attr {name}, got {type(value).__name__} should be "
                f"{type(known[key]).__name__}",
                "Leave options= away: nothing is compiled here.",
            )


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "torch.compile: tapegrad has no compiler, functions and modules run as they are",
            UserWarning,
            stacklevel=3,
        )
