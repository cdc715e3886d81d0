"""Containers: modules and parameters in a chain, a list or under names."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Self

from tapegrad.core.errors import (
    assertion_error,
    deprecated,
    index_error,
    runtime_error,
    type_error,
    value_error,
)
from tapegrad.nn.modules.module import Module, block
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


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

    def __init__(self, **kwargs: object) -> None:
        super().__init__()
        deprecated(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead."
        )
        for name, module in kwargs.items():
            self.add_module(name, module)


class Numbered(Module):
    """Modules held under the names "0", "1", ...: what `Sequential` and `ModuleList` share."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _get_abs_string_index(self, index: Any) -> str:
        position = operator.index(index)
        n = len(self)
        if not -n <= position < n:
            raise index_error(f"index {position} is out of range", f"There are {n} modules here.")
        return list(self._modules)[position]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._part(index)
        return self._modules[self._get_abs_string_index(index)]

    def _part(self, positions: slice) -> Self:
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._get_abs_string_index(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        for name in (
            names[index] if isinstance(index, slice) else [self._get_abs_string_index(index)]
        ):
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

    def pop(self, key: int | slice) -> Any:
        """Remove and return the module at position `key`.

        >>> torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()).pop(-1)
        Tanh()
        """
        module = self[key]
        del self[key]
        return module

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

    def forward(self, input: Tensor) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _part(self, positions: slice) -> Self:
        part = type(self)()
        for name, module in list(self._modules.items())[positions]:
            part.add_module(name, module)
        return part

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

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self).__iadd__(other)

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

    def _part(self, positions: slice) -> Self:
        return type(self)(list(self)[positions])

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


class ParameterList(Module):
    """A list of parameters that belong to the model that holds it; tensors become parameters.

    >>> weights = torch.nn.ParameterList([torch.ones(2, 3), torch.zeros(2)])
    >>> weights
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2x3]
        (1): Parameter containing: [torch.float32 of size 2]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _get_abs_string_index(self, index: Any) -> str:
        position = operator.index(index)
        n = len(self)
        if not -n <= position < n:
            raise index_error(
                f"index {position} is out of range", f"There are {n} parameters here."
            )
        return str(position % n)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._get_abs_string_index(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._get_abs_string_index(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Add `value` at the end; returns this list.

        >>> len(torch.nn.ParameterList().append(torch.ones(2)))
        1
        """
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add `values` at the end; returns this list.

        >>> len(torch.nn.ParameterList().extend([torch.ones(2), torch.ones(3)]))
        2
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise type_error(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}",
                "Use append for a single parameter.",
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(str(i), x, lambda x: repr(x.dtype)) for i, x in enumerate(self))

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise runtime_error("ParameterList should not be called.", "It holds parameters; index it.")


class ParameterDict(Module):
    """Parameters by name that belong to the model that holds it; tensors become parameters.

    >>> choices = torch.nn.ParameterDict({"left": torch.ones(2), "right": torch.zeros(2)})
    >>> choices["left"].requires_grad
    True
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: object) -> str:
        if not isinstance(key, str):
            raise type_error(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). Open an issue on github if you need "
                "non-string keys.",
                f"Use str({key!r}).",
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._attribute(key)
        setattr(self, name, _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Any) -> ParameterDict:
        joined = ParameterDict(OrderedDict(other))
        joined.update(self)
        return joined

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self

    def keys(self) -> Any:
        """The names.

        >>> list(torch.nn.ParameterDict({"a": torch.ones(2)}).keys())
        ['a']
        """
        return self._keys.keys()

    def items(self) -> Iterator[tuple[str, Any]]:
        """The pairs of name and parameter.

        >>> [(k, p.shape) for k, p in torch.nn.ParameterDict({"a": torch.ones(2)}).items()]
        [('a', torch.Size([2]))]
        """
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterator[Any]:
        """The parameters.

        >>> [p.shape for p in torch.nn.ParameterDict({"a": torch.ones(2)}).values()]
        [torch.Size([2])]
        """
        return (self[key] for key in self._keys)

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters.

        >>> m = torch.nn.ParameterDict({"a": torch.ones(2)})
        >>> m.copy()["a"] is m["a"]
        True
        """
        return ParameterDict(OrderedDict(self.items()))

    def clear(self) -> None:
        """Remove everything.

        >>> m = torch.nn.ParameterDict({"a": torch.ones(2)})
        >>> m.clear()
        >>> len(m)
        0
        """
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove and return the parameter called `key`.

        >>> torch.nn.ParameterDict({"a": torch.ones(2)}).pop("a").shape
        torch.Size([2])
        """
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove and return the last pair of name and parameter.

        >>> torch.nn.ParameterDict({"a": 1, "b": 2}).popitem()
        ('b', 2)
        """
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter called `key`, or `default`.

        >>> torch.nn.ParameterDict({"a": 1}).get("b", 2)
        2
        """
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter called `key`, which is `default` from now on if there was none.

        >>> torch.nn.ParameterDict({"a": 1}).setdefault("a", 2)
        1
        """
        if key not in self._keys:
            self[key] = default
        return self[key]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with `default` under each of `keys`.

        >>> list(torch.nn.ParameterDict().fromkeys(["a", "b"], 1))
        ['a', 'b']
        """
        return ParameterDict(OrderedDict((key, default) for key in keys))

    def update(self, parameters: Any) -> None:
        """Add parameters from a mapping or from pairs; a plain dict's in the order of its names.

        >>> m = torch.nn.ParameterDict({"b": 1})
        >>> m.update({"a": torch.ones(2)})
        >>> list(m)
        ['b', 'a']
        """
        if not isinstance(parameters, Iterable):
            raise type_error(
                "ParametersDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(parameters).__name__}",
                "Pass a dict.",
            )
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = list(parameters.items())
        elif hasattr(parameters, "items"):
            pairs = sorted(parameters.items(), key=operator.itemgetter(0))
        else:
            pairs = [pair_of("ParameterDict", i, entry) for i, entry in enumerate(parameters)]
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, _type_name) for key, value in self.items())

    def __call__(self, input: Tensor) -> Any:
        raise runtime_error("ParameterDict should not be called.", "It holds parameters; index it.")


def _as_parameter(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(name: str, value: Any, describe: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    size = "x".join(str(n) for n in value.shape)
    return f"  ({name}): Parameter containing: [{describe(value)} of size {size}]"


def _type_name(value: Tensor) -> str:
    return str(value.type())
