"""Dictionaries by the identity of their keys, which they do not keep alive."""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any
from weakref import ref

from tapegrad.core.missing import refuses as _refuses
from tapegrad.tensors.tensor import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(ref):
    """A weak reference that equals those to the very same object."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        self._id = id(key)
        super().__init__(key, callback)  # type: ignore[call-arg]

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine = self()
        theirs = other() if isinstance(other, ref) else None
        return mine is theirs if mine is not None and theirs is not None else self is other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary by identity; an entry goes when its key does.

    >>> from tapegrad.compat.torch.utils.weak import WeakIdKeyDictionary
    >>> x = torch.ones(2)
    >>> names = WeakIdKeyDictionary({x: "x"})
    >>> names[x], names.get(torch.ones(2)), len(names)
    ('x', None, 1)
    >>> del x
    >>> len(names)
    0
    """

    def __init__(self, dict: Mapping | None = None, ref_type: type[ref] = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type

        owner = ref(self)

        def remove(key: Any) -> None:
            mine = owner()
            if mine is not None:
                mine.data.pop(key, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # of a class without weak references
            return False

    def __iter__(self) -> Iterator[Any]:
        # what holds a key here keeps it alive until the next one is asked for
        for each in list(self.data):
            key = each()
            if key is not None:
                yield key

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {hex(id(self))}>"

    def keyrefs(self) -> list[ref]:
        """The weak references to the keys; some may be dead when they are looked at."""
        return list(self.data)

    def copy(self) -> "WeakIdKeyDictionary":
        return type(self)(self)

    __copy__ = copy

    def __or__(self, other: Mapping) -> "WeakIdKeyDictionary":
        found = self.copy()
        found.update(other)
        return found

    def __ior__(self, other: Mapping) -> "WeakIdKeyDictionary":
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None  # type: ignore[assignment]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: calling it gives the tensor, or None."""

    def __init__(self, tensor: Tensor) -> None:
        self.ref = ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()


__getattr__ = _refuses(__name__)
