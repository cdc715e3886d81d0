"""Modules by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from warnings import warn

from tapegrad.core.errors import type_error, value_error
from tapegrad.nn.module import Module


class ModuleDict(Module):
    """Modules by name, in the order of insertion, whose parameters belong to the model.

    >>> choices = torch.nn.ModuleDict({"relu": torch.nn.ReLU(), "tanh": torch.nn.Tanh()})
    >>> choices["tanh"]
    Tanh()
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules.

        >>> m = torch.nn.ModuleDict({"a": torch.nn.ReLU()})
        >>> m.clear()
        >>> len(m)
        0
        """
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove and return the module called `key`.

        >>> torch.nn.ModuleDict({"a": torch.nn.ReLU()}).pop("a")
        ReLU()
        """
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names.

        >>> list(torch.nn.ModuleDict({"a": torch.nn.ReLU()}).keys())
        ['a']
        """
        return self._modules.keys()

    def items(self) -> Any:
        """The pairs of name and module.

        >>> list(torch.nn.ModuleDict({"a": torch.nn.ReLU()}).items())
        [('a', ReLU())]
        """
        return self._modules.items()

    def values(self) -> Any:
        """The modules.

        >>> list(torch.nn.ModuleDict({"a": torch.nn.ReLU()}).values())
        [ReLU()]
        """
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs of name and module.

        >>> m = torch.nn.ModuleDict({"a": torch.nn.ReLU()})
        >>> m.update({"b": torch.nn.Tanh()})
        >>> list(m)
        ['a', 'b']
        """
        if not isinstance(modules, Iterable):
            raise type_error(
                "ModuleDict.update should be called with an iterable of key/value pairs, but "
                f"got {type(modules).__name__}",
                "Pass a dict.",
            )
        if hasattr(modules, "items"):
            pairs = list(modules.items())
        else:
            pairs = [pair_of("ModuleDict", i, entry) for i, entry in enumerate(modules)]
        for name, module in pairs:
            self[name] = module


def pair_of(kind: str, position: int, entry: Any) -> tuple:
    """A pair of name and value out of what a dict is updated from; checked."""
    where = f"{kind} update sequence element #{position}"
    if not isinstance(entry, Iterable):
        raise type_error(
            f"{where} should be Iterable; is{type(entry).__name__}",
            "Each element is a pair of name and value.",
        )
    pair = tuple(entry)
    if len(pair) != 2:
        raise value_error(
            f"{where} has length {len(pair)}; 2 is required",
            "Each element is a pair of name and value.",
        )
    return pair


class Container(Module):
    """A module with the given children. It warns: derive from `Module` instead.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.nn.Container(act=torch.nn.ReLU())
    Container(
      (act): ReLU()
    )
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)
