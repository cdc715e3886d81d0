"""Values in the layout of a spec, which generated functions unpack their arguments with."""

from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils import _pytree as pytree


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
    else:
        children = list(pytree.SUPPORTED_NODES[spec.type].flatten_fn(value)[0])
    specs = spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs
    for child, child_spec in zip(children, specs, strict=True):
        found.extend(tree_flatten_spec(child, child_spec))
    return found


__getattr__ = _refuses(__name__)
