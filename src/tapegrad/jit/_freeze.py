"""`freeze`: a scripted module in evaluation mode whose parameters are constants."""

import copy

from tapegrad.core.annotations import Any
from tapegrad.core.errors import runtime_error
from tapegrad.jit._script import RecursiveScriptModule, ScriptModule
from tapegrad.jit._state import COMPILE, outdated


def freeze(
    mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True
) -> Any:
    """A copy of a scripted or traced module in evaluation mode, with constants for parameters.

    It computes what the module did and has no parameters, no buffers and an empty `state_dict`.
    Its children stay, which PyTorch's loses.

    Args:
        mod: what `torch.jit.script` or `torch.jit.trace` gave, after `eval()`
        preserved_attrs: names of parameters, buffers or children to leave as they are
        optimize_numerics: for PyTorch's compiler; without effect

    Raises: RuntimeError for what is not scripted, in training mode, or lacks a preserved attribute.

    >>> frozen = torch.jit.freeze(torch.jit.script(torch.nn.Linear(2, 1).eval()))
    >>> list(frozen.parameters()), frozen(torch.ones(2)).requires_grad
    ([], False)
    """
    outdated("freeze", COMPILE)
    if not isinstance(mod, ScriptModule):
        raise runtime_error(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or "
            "torch.jit.trace to script your 'nn.Module'.",
            "torch.jit.freeze(torch.jit.script(module))",
        )
    if mod.training:
        raise runtime_error(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() "
            "on your module before freezing.",
            "torch.jit.freeze(module.eval())",
        )
    kept = set(preserved_attrs or ())
    for name in kept:
        if not hasattr(mod, name):
            raise runtime_error(f"Unknown name: {name}", "Preserve what the module has.")
    return _frozen(copy.deepcopy(mod), kept)


def _frozen(module: Any, kept: set[str]) -> Any:
    for table in (module._parameters, module._buffers):
        for name in [name for name in table if name not in kept]:
            value = table.pop(name)
            module.__dict__[name] = None if value is None else value.detach()
    for name, child in module._modules.items():
        if child is not None and name not in kept:
            _frozen(child, set())
    return module


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """A frozen module; there is no compiler that would make it faster.

    >>> frozen = torch.jit.optimize_for_inference(torch.jit.script(torch.nn.Linear(2, 1).eval()))
    >>> list(frozen.parameters())
    []
    """
    outdated("optimize_for_inference", COMPILE)
    if not isinstance(mod, ScriptModule):
        raise runtime_error(
            "optimize_for_inference expects a ScriptModule as input. Please use torch.jit.script "
            "or torch.jit.trace to script your 'nn.Module'.",
            "torch.jit.optimize_for_inference(torch.jit.script(module))",
        )
    return freeze(mod.eval(), other_methods) if not _is_frozen(mod) else mod


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Accepted as in PyTorch: there is nothing to optimise."""


def _is_frozen(mod: Any) -> bool:
    return isinstance(mod, RecursiveScriptModule) and not list(mod.parameters())
