"""Modules under the numbers 0, 1, ...: called one after another, or held as a list."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Self

from tapegrad.core.errors import assertion_error, index_error, type_error, value_error
from tapegrad.nn.module import Module, block


class Numbered(Module):
    """Modules held under the names "0", "1", ...: what `Sequential` and `ModuleList` share."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _name_at(self, index: Any) -> str:
        position = operator.index(index)
        n = len(self)
        if not -n <= position < n:
            raise index_error(f"index {position} is out of range", f"There are {n} modules here.")
        return list(self._modules)[position]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._name_at(index)]:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules: list[Any]) -> None:
        self._modules.clear()
        self._modules.update((str(i), module) for i, module in enumerate(modules))

    def append(self, module: Module) -> Self:
        """Add `module` at the end; returns this container.

        >>> len(torch.nn.ModuleList([torch.nn.ReLU()]).append(torch.nn.Tanh()))
        2
        """
        self.add_module(str(len(self)), module)
        return self

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(Numbered):
    """Modules called one after another: `layer_n(... layer_1(layer_0(x)))`.

    Args: the modules, or one `OrderedDict` of names and modules.

    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    >>> model
    Sequential(
      (0): Linear(in_features=3, out_features=2, bias=True)
      (1): ReLU()
    )
    >>> model(torch.ones(4, 3)).shape
    torch.Size([4, 2])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        pairs = args[0].items() if named else ((str(i), m) for i, m in enumerate(args))
        for name, module in pairs:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            part = type(self)()
            for name, module in list(self._modules.items())[index]:
                part.add_module(name, module)
            return part
        return self._modules[self._name_at(index)]

    def insert(self, index: int, module: Module) -> Self:
        """Put `module` before position `index`; returns this container.

        >>> torch.nn.Sequential(torch.nn.ReLU()).insert(0, torch.nn.Tanh())[0]
        Tanh()
        """
        if not isinstance(module, Module):
            raise assertion_error(f"module should be of type: {Module}", f"It is {type(module)}.")
        n = len(self)
        if not -n <= index <= n:
            raise index_error(f"Index out of range: {index}", f"There are {n} modules here.")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add the modules of `sequential` at the end; returns this container.

        >>> len(torch.nn.Sequential().extend([torch.nn.ReLU(), torch.nn.Tanh()]))
        2
        """
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at position `key`.

        >>> torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).pop(-1)
        Tanh()
        """
        module = self[key]
        del self[key]
        return module

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise value_error(
                f"add operator supports only objects of Sequential class, but {type(other)} is "
                "given.",
                "Use append or extend.",
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, Sequential):
            raise value_error(
                f"add operator supports only objects of Sequential class, but {type(other)} is "
                "given.",
                "Use append or extend.",
            )
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*self).__imul__(other)

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return self.extend(list(self) * (other - 1))


class ModuleList(Numbered):
    """A list of modules whose parameters belong to the model that holds it.

    >>> layers = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(3)])
    >>> layers
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._name_at(index)]

    def insert(self, index: int, module: Module) -> None:
        """Put `module` before position `index`.

        >>> layers = torch.nn.ModuleList([torch.nn.ReLU()])
        >>> layers.insert(0, torch.nn.Tanh())
        >>> layers[0]
        Tanh()
        """
        if not isinstance(module, Module):
            raise type_error(f"{type(module).__name__} is not a Module subclass", "Pass a layer.")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add `modules` at the end; returns this list.

        >>> len(torch.nn.ModuleList().extend([torch.nn.ReLU(), torch.nn.Tanh()]))
        2
        """
        if not isinstance(modules, Iterable):
            raise type_error(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}",
                "Use append for a single module.",
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at position `key`.

        >>> torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()]).pop(-1)
        Tanh()
        """
        module = self[key]
        del self[key]
        return module

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        runs: list[list] = []  # [first, last, text] of neighbours that print alike
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = []
        for first, last, text in runs:
            label = f"({first})" if first == last else f"({first}-{last})"
            count = "" if first == last else f"{last - first + 1} x "
            lines.append(f"{label}: {count}{text}".replace("\n", "\n  "))
        return block(self._get_name(), lines)
