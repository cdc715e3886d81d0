"""Structures as JSON."""

import json
from typing import Any

from tapegrad.core import errors
from tapegrad.utils._pytree.registry import (
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
)
from tapegrad.utils._pytree.tree import _no_treespec
from tapegrad.utils._pytree.treespec import LEAF, TreeSpec

DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL = 1


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON, which `treespec_loads` reads.

    Raises:
        NotImplementedError: a kind was registered without a `serialized_type_name`.
        TypeError: a context cannot be said in JSON.
        ValueError: the protocol is not 1.

    >>> pytree = torch.utils._pytree
    >>> pytree.treespec_dumps(pytree.tree_structure([]))
    '[1, {"type": "builtins.list", "context": "null", "children_spec": []}]'
    """
    if not isinstance(treespec, TreeSpec):
        raise _no_treespec(treespec)
    number = DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL if protocol is None else protocol
    _check_protocol(number)
    return json.dumps((number, _said(treespec)))


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` has written.

    Raises:
        NotImplementedError: a kind is not registered here.
        ValueError: the protocol is not 1, or the text is no JSON.
    """
    number, found = json.loads(serialized)
    _check_protocol(number)
    return _read(found)


def _check_protocol(number: Any) -> None:
    if number != DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL:
        raise errors.value_error(
            f"Unknown protocol {number}. Available protocols: [1]", "Leave `protocol` out."
        )


def _said(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    node = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if node is None or node.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise errors.not_implemented(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg.",
            "register_pytree_node(..., serialized_type_name=...)",
        )
    if node.to_dumpable_context is not None:
        context = node.to_dumpable_context(spec.context)
    else:
        try:
            context = json.dumps(spec.context)
        except TypeError as error:
            raise errors.type_error(
                "Unable to serialize context. Please make the context json dump-able, or register "
                "a custom serializer using _register_pytree_node.",
                "register_pytree_node(..., to_dumpable_context=..., from_dumpable_context=...)",
            ) from error
    children = [_said(each) for each in spec.children()]
    return {"type": node.serialized_type_name, "context": context, "children_spec": children}


def _read(found: dict[str, Any]) -> TreeSpec:
    name = found["type"]
    if name is None:
        return LEAF
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise errors.not_implemented(
            f"Deserializing {name} in pytree is not registered.",
            "register_pytree_node(..., serialized_type_name=...)",
        )
    kind = SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
    way = SUPPORTED_SERIALIZED_TYPES[kind].from_dumpable_context
    context = json.loads(found["context"]) if way is None else way(found["context"])
    return TreeSpec(kind, context, [_read(each) for each in found["children_spec"]])
