"""Nested states as flat ones: a name for each tensor and object, and its path."""

from collections.abc import Mapping, MutableMapping
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.tensors.tensor import Tensor


def flatten_state_dict(state_dict: Mapping) -> tuple[dict[str, Any], dict[str, tuple]]:
    """The leaves of nested dicts and lists by dotted name, and the path of each.

    A list without tensors, dicts and lists of them is a leaf itself. Keys of dicts become strings.

    >>> from tapegrad.distributed.checkpoint._nested_dict import flatten_state_dict
    >>> flatten_state_dict({"a": {1: 2}, "b": [3, 4]})
    ({'a.1': 2, 'b': [3, 4]}, {'a.1': ('a', '1'), 'b': ('b',)})
    """
    flat: dict[str, Any] = {}
    paths: dict[str, tuple] = {}

    def visit(path: tuple, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, each in value.items():
                visit((*path, str(key)), each)
        elif isinstance(value, list) and not _is_leaf(value):
            for i, each in enumerate(value):
                visit((*path, i), each)
        else:
            name = ".".join(map(str, path))
            if name in flat:
                raise value_error(f"duplicated flatten key {name}", "Rename one of the two.")
            flat[name], paths[name] = value, path

    visit((), state_dict)
    return flat, paths


def _is_leaf(values: list) -> bool:
    for each in values:
        if isinstance(each, (Mapping, Tensor)) or (isinstance(each, list) and not _is_leaf(each)):
            return False
    return True


def set_at(tree: MutableMapping, path: tuple, value: Any) -> None:
    """Put a leaf at its path, where dicts and lists that are not there yet are made."""
    found: Any = tree
    for key, following in zip(path, (*path[1:], None), strict=True):
        if isinstance(found, Mapping) and key not in found:
            key = next((k for k in found if str(k) == key), key)
        if isinstance(found, list) and len(found) <= key:
            found.extend([None] * (key + 1 - len(found)))
        if following is None:
            found[key] = value
            return
        inner = found.get(key) if isinstance(found, Mapping) else found[key]
        if inner is None:
            inner = found[key] = [] if isinstance(following, int) else {}
        found = inner


__getattr__ = _refuses(__name__)
