"""The structure of a tree: what is left of it without its leaves."""

import warnings
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any

from tapegrad.core import errors
from tapegrad.utils._pytree.registry import (
    BUILTIN_TYPES,
    STANDARD_DICT_TYPES,
    SUPPORTED_NODES,
    Context,
    PyTree,
    _get_node_type,
    node_of,
)


class TreeSpec:
    """The kind of a container, its context, and the structures of its children; or a leaf's.

    >>> pytree = torch.utils._pytree
    >>> pytree.tree_structure({"a": 1, "b": (2, 3)})
    TreeSpec(dict, ['a', 'b'], [*,
      TreeSpec(tuple, None, [*,
        *])])
    """

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    type: Any
    num_leaves: int
    num_nodes: int
    num_children: int

    def __init__(self, type: Any, context: Context, children_specs: list["TreeSpec"]):
        self.type, self._context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        nodes, leaves = 1, 1 if type is None else 0
        for each in children_specs:
            nodes += each.num_nodes
            leaves += each.num_leaves
        self.num_nodes, self.num_leaves = nodes, leaves

    def __repr__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        """As it is printed, further lines after `indent` spaces."""
        if self.type is None:
            return "*"
        indent += 2
        below = f",\n{' ' * indent}".join([each._text(indent) for each in self._children])
        return f"TreeSpec({self.type.__name__}, {self._context}, [{below}])"

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self._context == other._context
            and self._children == other._children
        )

    def __hash__(self) -> int:
        return hash((self.type, _hashable(self._context), tuple(self._children)))

    def __reduce__(self) -> Any:
        return TreeSpec, (self.type, self._context, self._children)

    @property
    def context(self) -> Context:
        """What is needed, beside the children, to build the container."""
        return self._context

    @property
    def children_specs(self) -> list["TreeSpec"]:
        """The old name of `children()`."""
        text = (
            "`treespec.children_specs` is deprecated. Use `treespec.child(index)` to access a "
            "single child, or `treespec.children()` to get all children."
        )
        warnings.warn(text, FutureWarning, stacklevel=2)
        return self._children

    def is_leaf(self) -> bool:
        """Whether it is the structure of a leaf."""
        return self.type is None

    def children(self) -> list["TreeSpec"]:
        """The structures of the children."""
        return list(self._children)

    def child(self, index: int) -> "TreeSpec":
        """The structure of one child."""
        return self._children[index]

    def unflatten(self, leaves: Iterable) -> PyTree:
        """The tree of this structure with the leaves given, in order.

        Raises:
            ValueError: there are more or fewer leaves than places.
        """
        if not isinstance(leaves, (list, tuple)):
            leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise errors.value_error(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self}).",
                "Give a leaf for each place.",
            )
        return leaves[0] if self.type is None else self._built(iter(leaves))

    def _built(self, leaves: Any) -> PyTree:
        children = [next(leaves) if s.type is None else s._built(leaves) for s in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self._context)

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """What a tree that begins with this structure has in the places of its leaves.

        Raises:
            ValueError: the tree begins in another way.
        """
        found: list[PyTree] = []
        self._collect(tree, found)
        return found

    def _collect(self, tree: PyTree, found: list[PyTree]) -> None:
        if self.type is None:
            found.append(tree)
            return
        children = self._children_of(tree)
        if isinstance(children, str):
            raise errors.value_error(children, "The trees must have the structure of the first.")
        for child, spec in zip(children, self._children, strict=True):
            spec._collect(child, found)

    def _children_of(self, tree: PyTree) -> list | str:
        """The children of a container of this kind, in this one's order; or how it differs."""
        kind = _get_node_type(tree)
        custom = self.type not in BUILTIN_TYPES
        mappings = self.type in STANDARD_DICT_TYPES and kind in STANDARD_DICT_TYPES
        if kind is not self.type and not mappings:
            what = "Type" if custom else "Node type"
            return f"{what} mismatch; expected {self.type}, but got {kind}."
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            n = self.num_children
            return f"Node arity mismatch; expected {n}, but got {len(children)}."
        if mappings:
            wanted = self._context[1] if self.type is defaultdict else self._context
            missing, extra = set(wanted) - set(tree), set(tree) - set(wanted)
            if missing or extra:
                parts = [f" missing key(s): {missing}"] if missing else []
                parts += [f" extra key(s): {extra}"] if extra else []
                return f"Node keys mismatch;{';'.join(parts)}."
            return [tree[key] for key in wanted]
        if custom and context != self._context:
            return f"Node context mismatch for custom node type {self.type}."
        if not custom and context != self._context and not isinstance(tree, deque):
            return (
                f"Node context mismatch for node type {self.type}; expected {self._context}, but "
                f"got {context}."
            )
        return children


PyTreeSpec = TreeSpec


class _LeafSpecType(type):
    def __call__(cls) -> TreeSpec:
        return LEAF

    def __instancecheck__(cls, instance: object) -> bool:
        text = (
            "`isinstance(treespec, LeafSpec)` is deprecated, use "
            "`isinstance(treespec, TreeSpec) and treespec.is_leaf()` instead."
        )
        warnings.warn(text, FutureWarning, stacklevel=2)
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(TreeSpec, metaclass=_LeafSpecType):
    """The structure of a leaf, under its old name: `LeafSpec()` is `treespec_leaf()`."""

    __slots__ = ()


LEAF = TreeSpec(None, None, [])


def treespec_leaf() -> TreeSpec:
    """The structure of a leaf."""
    return LEAF


def treespec_tuple(iterable: Iterable[TreeSpec] = (), /) -> TreeSpec:
    """The structure of a tuple of trees with these structures."""
    below = list(iterable)
    if any(not isinstance(each, TreeSpec) for each in below):
        raise errors.value_error(
            f"Expected a tuple of TreeSpec values, got: {below}.", "tree_structure(tree) gives one."
        )
    return TreeSpec(tuple, None, below)


def treespec_dict(
    mapping: Mapping[Any, TreeSpec] | Iterable[tuple[Any, TreeSpec]] = (), /, **kwargs: TreeSpec
) -> TreeSpec:
    """The structure of a dictionary of trees with these structures."""
    below = dict(mapping, **kwargs)
    if any(not isinstance(each, TreeSpec) for each in below.values()):
        raise errors.value_error(
            f"Expected a dictionary of TreeSpec values, got: {below}.",
            "tree_structure(tree) gives one.",
        )
    return TreeSpec(dict, list(below), list(below.values()))


def spread(tree: PyTree, spec: TreeSpec, is_leaf: Any = None) -> list | None:
    """The leaves of a tree, each as often as the structure has leaves below its place.

    None if the structure does not begin as the tree does. PyTorch's `_broadcast_to_and_flatten`.
    """
    if (is_leaf is not None and is_leaf(tree)) or node_of(tree) is None:
        return [tree] * spec.num_leaves
    if spec.type is None:
        return None
    children = spec._children_of(tree)
    if isinstance(children, str):
        return None
    found: list = []
    for child, below in zip(children, spec.children(), strict=True):
        part = spread(child, below, is_leaf)
        if part is None:
            return None
        found += part
    return found


def _hashable(context: Any) -> Any:
    return tuple(map(_hashable, context)) if isinstance(context, list) else context
