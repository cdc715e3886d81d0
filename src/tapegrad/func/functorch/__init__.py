"""The old package `functorch`, whose functions went into `torch.func`: they work, and warn.

`make_functional` and its kin take a module apart: its tensors, and a function of them.
"""

import copy
import functools
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tapegrad import func as _func
from tapegrad.core.argument_check import users_level
from tapegrad.core.errors import deprecated, runtime_error
from tapegrad.core.missing import missing
from tapegrad.nn.modules.module import Module
from tapegrad.operators.creation.zeros_eye import empty

__all__ = [
    "combine_state_for_ensemble", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd",
    "jacrev", "jvp", "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip


def _warn(name: str, instead: str) -> None:
    deprecated(
        "We've integrated functorch into PyTorch. As the final step of the integration, "
        f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future "
        f"version of PyTorch >= 2.3. Please use `{instead}` instead; see the PyTorch 2.0 release "
        "notes and/or the `torch.func` migration guide for more details "
        "https://pytorch.org/docs/main/func.migrating.html",
        users_level(),
    )


def _moved(name: str, instead: str = "") -> Callable:
    function = getattr(_func, name)

    @functools.wraps(function)
    def warned(*args: object, **kwargs: object) -> Any:
        _warn(name, instead or f"torch.func.{name}")
        return function(*args, **kwargs)

    return warned


functionalize = _moved("functionalize")
grad = _moved("grad")
grad_and_value = _moved("grad_and_value")
hessian = _moved("hessian")
jacfwd = _moved("jacfwd")
jacrev = _moved("jacrev")
jvp = _moved("jvp")
vjp = _moved("vjp")
vmap = _moved("vmap", "torch.vmap")


# --- modules taken apart -------------------------------------------------------------------------


class FunctionalModuleWithBuffers(Module):
    """A module without tensors, called with its parameters and buffers: `f(params, buffers, x)`."""

    def __init__(self, model: Module):
        super().__init__()
        self.stateless_model = copy.deepcopy(model)
        self.param_names = tuple([name for name, _ in model.named_parameters()])
        self.buffer_names = tuple([name for name, _ in model.named_buffers()])
        self.all_names_map = _names_of(model)
        for module in self.stateless_model.modules():
            for table in (module._parameters, module._buffers):
                for name in [name for name, tensor in table.items() if tensor is not None]:
                    del table[name]
                    module.__dict__[name] = empty(0)  # a place for the one it is called with

    def forward(self, params: Sequence, buffers: Sequence, *args: object, **kwargs: object) -> Any:
        """What the module gives with these tensors in its places."""
        tensors = dict(zip(self.param_names, params, strict=True))
        tensors.update(zip(self.buffer_names, buffers, strict=True))
        everywhere = {
            each: tensor for name, tensor in tensors.items() for each in self.all_names_map[name]
        }
        model = self.stateless_model
        return _func.functional_call(model, everywhere, args, kwargs, tie_weights=False)


class FunctionalModule(FunctionalModuleWithBuffers):
    """The same of a module without buffers: `f(params, x)`."""

    def forward(self, params: Sequence, *args: object, **kwargs: object) -> Any:
        """What the module gives with these parameters in the place of its own."""
        return super().forward(params, (), *args, **kwargs)


def _names_of(model: Module) -> dict[str, list[str]]:
    """For the first name of each tensor all its names."""
    first: dict[int, str] = {}
    names: dict[str, list[str]] = {}
    for table in (model.named_parameters, model.named_buffers):
        for name, tensor in table(remove_duplicate=False):
            names.setdefault(first.setdefault(id(tensor), name), []).append(name)
    return names


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple:
    """A module without buffers as a function, and copies of its parameters: `(f, params)`.

    >>> import warnings
    >>> from tapegrad.func import functorch
    >>> layer = torch.nn.Linear(2, 1)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     f, parameters = functorch.make_functional(layer)
    >>> torch.equal(f(parameters, torch.ones(2)), layer(torch.ones(2)))
    True
    """
    _warn("make_functional", "torch.func.functional_call")
    if next(model.buffers(), None) is not None:
        raise runtime_error(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead.",
            "torch.func.functional_call takes both.",
        )
    return FunctionalModule(model), _parameters(model, disable_autograd_tracking)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> tuple:
    """A module as a function, and copies of its tensors: `(f, params, buffers)`.

    >>> import warnings
    >>> from tapegrad.func import functorch
    >>> with warnings.catch_warnings(action="ignore"):
    ...     f, parameters, buffers = functorch.make_functional_with_buffers(torch.nn.BatchNorm1d(2))
    >>> len(parameters), len(buffers)
    (2, 3)
    """
    _warn("make_functional_with_buffers", "torch.func.functional_call")
    buffers = tuple([buffer.detach().clone() for buffer in model.buffers()])
    parameters = _parameters(model, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(model), parameters, buffers


def _parameters(model: Module, constant: bool) -> tuple:
    found = [copy.deepcopy(parameter) for parameter in model.parameters()]
    return tuple([p.requires_grad_(False) for p in found] if constant else found)


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple:
    """Models of one kind as a function of one, and their tensors stacked: `(f, params, buffers)`.

    >>> import warnings
    >>> from tapegrad.func import functorch
    >>> with warnings.catch_warnings(action="ignore"):
    ...     f, parameters, _ = functorch.combine_state_for_ensemble([torch.nn.Linear(2, 1)] * 3)
    >>> [p.shape for p in parameters]
    [torch.Size([3, 1, 2]), torch.Size([3, 1])]
    """
    _warn("combine_state_for_ensemble", "torch.func.stack_module_state")
    problem = ""
    if len(models) == 0:
        problem = "Expected at least one model, got 0."
    elif len({model.training for model in models}) > 1:
        problem = "Expected all models to have the same training/eval mode."
    elif len({type(model) for model in models}) > 1:
        problem = "Expected all models to be of the same class."
    if problem:
        raise runtime_error(f"combine_state_for_ensemble: {problem}", "Pass models of one kind.")
    parameters, buffers = _func.stack_module_state(models)
    stacked = tuple([p.detach() for p in parameters.values()])
    return FunctionalModuleWithBuffers(models[0]), stacked, tuple(buffers.values())


def __getattr__(name: str) -> Any:
    """`einops` and `experimental`, modules of this package."""
    if name in ("einops", "experimental"):
        return import_module(f"{__name__}.{name}")
    raise missing(__name__, name)
