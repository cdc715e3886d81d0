"""Values in the layout of a spec, which generated functions unpack their arguments with."""

from collections.abc import Callable
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils import _pytree as pytree

SUPPORTED_NODES: dict[type, Callable[[Any, Any], list[Any]]] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[type, Callable[[Any, Any], bool] | None] = {}


def register_pytree_flatten_spec(
    cls: type,
    flatten_fn_spec: Callable[[Any, Any], list[Any]],
    flatten_fn_exact_match_spec: Callable[[Any, Any], bool] | None = None,
) -> None:
    """Have `flatten_fn_spec(value, spec)` give the children of values of a class."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(value: Any, spec: Any) -> list[Any]:
    """The leaves of `value`, which is laid out as `spec` says; what is more is left out.

    >>> from tapegrad.fx._pytree import tree_flatten_spec
    >>> from tapegrad.utils._pytree import tree_structure
    >>> tree_flatten_spec([1, {"a": 2}], tree_structure((0, {"a": 0})))
    [1, 2]
    """
    if spec.is_leaf():
        return [value]
    found: list[Any] = []
    if spec.type is dict:
        children = [value[key] for key in spec.context]
    elif spec.type in (list, tuple):
        children = [value[i] for i in range(spec.num_children)]
    elif spec.type in SUPPORTED_NODES:
        children = SUPPORTED_NODES[spec.type](value, spec)
    else:
        children = list(pytree.SUPPORTED_NODES[spec.type].flatten_fn(value)[0])
    specs = spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs
    for child, child_spec in zip(children, specs, strict=True):
        found.extend(tree_flatten_spec(child, child_spec))
    return found


__getattr__ = _refuses(__name__)
