"""Trees: tuples, lists and dictionaries of whatever, any depth, taken apart and put together.

A tree without its leaves is its structure: `LEAF`, or a `Branch` with the structures below it. It
prints as PyTorch's does.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

LEAF = None  # the structure of a leaf
_MAPPINGS = (dict, OrderedDict)


class Branch:
    """The kind of a tuple, list or dictionary, its keys, and the structures of its entries."""

    __slots__ = ("below", "keys", "kind")

    def __init__(self, kind: type, keys: Any, below: list):
        self.kind, self.keys, self.below = kind, keys, below

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Branch) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]


def flatten(tree: Any) -> tuple[list, Any]:
    """The leaves of a tree and its structure.

    >>> leaves, structure = tapegrad.func.pytree.flatten((1, {"a": 2, "b": [3]}))
    >>> leaves, tapegrad.func.pytree.unflatten([4, 5, 6], structure)
    ([1, 2, 3], (4, {'a': 5, 'b': [6]}))
    """
    kind = type(tree)
    if kind in _MAPPINGS:
        keys, entries = list(tree), list(tree.values())
    elif kind in (tuple, list) or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        keys, entries = None, list(tree)
    else:
        return [tree], LEAF
    leaves: list[Any] = []
    below = []
    for entry in entries:
        found, structure = flatten(entry)
        leaves += found
        below.append(structure)
    return leaves, Branch(kind, keys, below)


def unflatten(leaves: list, structure: object) -> Any:
    """The tree of a structure and its leaves."""
    return _built(iter(leaves), structure)


def _built(leaves: Iterator, structure: Any) -> Any:
    if structure is LEAF:
        return next(leaves)
    entries = [_built(leaves, each) for each in structure.below]
    kind = structure.kind
    if structure.keys is not None:
        return kind(zip(structure.keys, entries, strict=True))
    return kind._make(entries) if hasattr(kind, "_make") else kind(entries)


def text(structure: Any, indent: int = 0) -> str:
    """How a structure prints in errors."""
    if structure is LEAF:
        return "*"
    indent += 2
    below = (",\n" + " " * indent).join([text(each, indent) for each in structure.below])
    keys = structure.kind if hasattr(structure.kind, "_fields") else structure.keys
    kind = "namedtuple" if hasattr(structure.kind, "_fields") else structure.kind.__name__
    return f"TreeSpec({kind}, {keys}, [{below}])"
