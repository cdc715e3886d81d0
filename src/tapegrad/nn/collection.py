"""Collections of parameters: a list and a dict that register what they hold."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Self

from tapegrad.core.errors import index_error, runtime_error, type_error
from tapegrad.nn.container import pair_of
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.tensors.tensor import Tensor


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

    def _name_at(self, index: Any) -> str:
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
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name_at(index), _as_parameter(value))

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
        return "\n".join(_line(str(i), value, _dtype_name) for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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

    def _attribute(self, key: Any) -> str:
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

    def __call__(self, input: Any) -> Any:
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


def _dtype_name(value: Tensor) -> str:
    return repr(value.dtype)


def _type_name(value: Tensor) -> str:
    return str(value.type())
