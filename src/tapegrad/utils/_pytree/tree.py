"""Trees: taking them apart, putting them together, and functions of all their leaves."""

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tapegrad.core import errors
from tapegrad.utils._pytree.registry import (
    CONSTANT_NODES,
    GetAttrKey,
    MappingKey,
    PyTree,
    SequenceKey,
    node_of,
)
from tapegrad.utils._pytree.treespec import LEAF, TreeSpec

KeyEntry = MappingKey | SequenceKey | GetAttrKey
KeyPath = tuple[Any, ...]
IsLeaf = Callable[[PyTree], bool] | None


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether an object is a leaf: nothing that `tree_flatten` takes apart.

    >>> pytree = torch.utils._pytree
    >>> pytree.tree_is_leaf(1), pytree.tree_is_leaf([1])
    (True, False)
    """
    return (is_leaf is not None and is_leaf(tree)) or node_of(tree) is None


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree and its structure. Where `is_leaf` gives True nothing is taken apart.

    >>> pytree = torch.utils._pytree
    >>> leaves, spec = pytree.tree_flatten((1, {"a": 2, "b": [3]}))
    >>> leaves, pytree.tree_unflatten([4, 5, 6], spec)
    ([1, 2, 3], (4, {'a': 5, 'b': [6]}))
    """
    leaves: list[Any] = []
    return leaves, _taken_apart(tree, leaves, is_leaf)


def _taken_apart(tree: PyTree, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        leaves.append(tree)
        return LEAF
    children, context = node.flatten_fn(tree)
    return TreeSpec(node.type, context, [_taken_apart(x, leaves, is_leaf) for x in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a structure and its leaves.

    Raises:
        ValueError: there are more or fewer leaves than places.
        TypeError: `treespec` is no structure.
    """
    if treespec is LEAF and type(leaves) is list and len(leaves) == 1:
        return leaves[0]
    if not isinstance(treespec, TreeSpec):
        raise _no_treespec(treespec)
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one after another."""
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        yield tree
    else:
        for child in node.flatten_fn(tree)[0]:
            yield from tree_iter(child, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree.

    >>> pytree = torch.utils._pytree
    >>> pytree.tree_leaves({"a": (1, [2]), "b": None})
    [1, 2, None]
    """
    return tree_flatten(tree, is_leaf)[0]


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of all arguments."""
    return [leaf for x in (*args, *kwargs.values()) for leaf in tree_leaves(x)]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The tree of what a function gives for each leaf, and for what further trees have there.

    Raises:
        ValueError: a further tree does not begin as the first does.

    >>> pytree = torch.utils._pytree
    >>> pytree.tree_map(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [spec.flatten_up_to(each) for each in rests]
    return spec.unflatten([func(*xs) for xs in zip(leaves, *columns, strict=True)])


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call a function of each leaf as `tree_map` does; the result is the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [spec.flatten_up_to(each) for each in rests]
    for xs in zip(leaves, *columns, strict=True):
        func(*xs)
    return tree


def _predicate(what: Any) -> Callable[[Any], bool]:
    if isinstance(what, (type, types.UnionType, tuple)):
        return lambda x: isinstance(x, what)
    if callable(what):
        return what
    raise errors.type_error(
        "Argument must be a type, a tuple of types, or a callable.", f"Given {what!r}."
    )


def map_only(type_or_types_or_pred: Any, /) -> Callable:
    """A decorator of functions that are to leave arguments of other types as they are."""
    chosen = _predicate(type_or_types_or_pred)
    return lambda func: lambda x: func(x) if chosen(x) else x


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` of the leaves that are of these types, or that a predicate chooses.

    >>> pytree = torch.utils._pytree
    >>> pytree.tree_map_only(int, lambda x: -x, [1, "a"])
    [-1, 'a']
    """
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map_` of the leaves that are of these types, or that a predicate chooses."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a predicate holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether a predicate holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether a predicate holds for every leaf of these types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Whether a predicate holds for some leaf of these types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


# --- with the way to each leaf ------------------------------------------------------------------


def _with_paths(tree: PyTree, is_leaf: IsLeaf, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        yield path, tree
        return
    if node.flatten_with_keys_fn is None:
        raise errors.value_error(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node.",
            "It gives each child with its key.",
        )
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_paths(child, is_leaf, (*path, key))


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each with the keys that lead to it.

    Raises:
        ValueError: a container's kind is registered without a function that gives keys.
    """
    return list(_with_paths(tree, is_leaf, ()))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """`tree_leaves_with_path`, and the structure.

    >>> pytree = torch.utils._pytree
    >>> [(pytree.keystr(path), x) for path, x in pytree.tree_flatten_with_path({"a": [1, 2]})[0]]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` of a function that is given the keys that lead to a leaf, then the leaf."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [spec.flatten_up_to(each) for each in rests]
    return spec.unflatten([func(*xs, *ys) for xs, *ys in zip(found, *columns, strict=True)])


def keystr(kp: KeyPath) -> str:
    """The keys that lead to a leaf as Python writes them."""
    return "".join([str(key) for key in kp])


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What keys lead to."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _no_treespec(x: object) -> TypeError:
    return errors.type_error(
        f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(x)}.",
        "tree_structure(tree) gives one.",
    )


def is_constant_holder(spec: TreeSpec) -> bool:
    """Whether a structure is that of an object without children."""
    return spec.type in CONSTANT_NODES


def treespec_pprint(treespec: TreeSpec) -> str:
    """A structure as its tree prints, a star for each leaf.

    >>> pytree = torch.utils._pytree
    >>> pytree.treespec_pprint(pytree.tree_structure({"a": 1, "b": (2, 3)}))
    "{'a': *, 'b': (*, *)}"
    """
    return repr(tree_unflatten([_Star()] * treespec.num_leaves, treespec))


class _Star:
    def __repr__(self) -> str:
        return "*"
