"""Modules without the work of initialising them."""

from inspect import signature
from typing import Any

from tapegrad.core.errors import runtime_error
from tapegrad.nn.modules.module import Module
from tapegrad.random import get_rng_state, set_rng_state


def skip_init(module_cls: type, *args: object, **kwargs: object) -> Any:
    """A module whose parameters are not initialised: no random numbers are taken for it.

    Its parameters have some values or other.

    >>> torch.nn.utils.skip_init(torch.nn.Linear, 5, 1)
    Linear(in_features=5, out_features=1, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise runtime_error(f"Expected a Module; got {module_cls}", "Pass a module class.")
    if "device" not in signature(module_cls).parameters:
        raise runtime_error(
            "Module must support a 'device' arg to skip initialization",
            f"{module_cls.__name__} has nothing to skip, or does not say where it would be.",
        )
    state = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)
