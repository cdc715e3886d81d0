"""Helpers where PyTorch users look for them."""

from typing import Any

from tapegrad.utils import dlpack

__all__ = ["benchmark", "checkpoint", "data", "dlpack", "hooks", "tensorboard"]

_ON_DEMAND = frozenset(
    "_pytree benchmark checkpoint data flop_counter hooks module_tracker tensorboard".split()
)


def __getattr__(name: str) -> Any:
    """A package that is loaded on its first use."""
    if name in _ON_DEMAND:
        from importlib import import_module

        return import_module(f"tapegrad.utils.{name}")
    if name == "swap_tensors":
        from tapegrad.utils.swap import swap_tensors

        return swap_tensors
    from tapegrad.compat.insides import module_of

    value = module_of(f"utils.{name}")
    if value is None:
        from tapegrad.core.missing import missing

        raise missing("tapegrad.utils", name)
    return value


def __dir__() -> list[str]:
    return sorted({name for name in globals() if name[:1] != "_"} | _ON_DEMAND)
