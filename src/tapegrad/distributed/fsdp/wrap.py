"""Which modules of a model are spread each by itself."""

from collections.abc import Callable, Iterable
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.nn.modules.container import ModuleDict, ModuleList
from tapegrad.nn.modules.module import Module


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Each."""
    return True


def _module_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, module_classes: set
) -> bool:
    """Those of some classes."""
    return recurse or isinstance(module, tuple(module_classes))


def transformer_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, transformer_layer_cls: set
) -> bool:
    """Those of the classes of a transformer's layers."""
    return _module_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls)


def lambda_auto_wrap_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, lambda_fn: Callable
) -> bool:
    """Those a function says."""
    return recurse or lambda_fn(module)


def _or_policy(
    module: Module, recurse: bool, nonwrapped_numel: int, policies: Iterable[Callable]
) -> bool:
    """Those that one of several policies says."""
    return any(
        policy(module=module, recurse=recurse, nonwrapped_numel=nonwrapped_numel)
        for policy in policies
    )


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = int(1e8),
    force_leaf_modules: set | None = None,
    exclude_wrap_modules: set | None = None,
) -> bool:
    """Those with many parameters."""
    leaves = force_leaf_modules or {ModuleList, ModuleDict}
    excluded = exclude_wrap_modules or {ModuleList, ModuleDict}
    is_large = nonwrapped_numel >= min_num_params
    if recurse:
        return is_large and not isinstance(module, tuple(leaves))
    return is_large and not isinstance(module, tuple(excluded))


class ModuleWrapPolicy:
    """Those of some classes, as an object."""

    def __init__(self, module_classes: Iterable[type]) -> None:
        self._module_classes = set(module_classes)

    def __call__(self, module: Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        return _module_wrap_policy(module, recurse, -1, self._module_classes)


class CustomPolicy:
    """Those a function says, as an object."""

    def __init__(self, lambda_fn: Callable) -> None:
        self._lambda_fn = lambda_fn


__getattr__ = _refuses(__name__)
