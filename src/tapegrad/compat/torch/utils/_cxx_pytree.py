"""`torch.utils._cxx_pytree`: trees as optree takes them apart, with the containers of `_pytree`."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from tapegrad import return_types as _return_types
from tapegrad.core import errors as _errors
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils import _pytree as python_pytree
from tapegrad.utils._pytree import (  # noqa: F401 the names of `__all__`
    Context,
    DumpableContext,
    FlattenFn,
    FromDumpableContextFn,
    PyTree,
    ToDumpableContextFn,
    UnflattenFn,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    register_pytree_node,
)
from tapegrad.utils._pytree import registry as _registry
from tapegrad.utils._pytree.registry import (
    _private_register_pytree_node as _private_register_pytree_node,
)
from tapegrad.utils._pytree.tree import map_only

_OLDEST = (0, 13, 0)
_HOW = (
    "torch.utils._cxx_pytree depends on `optree>=0.13.0`, which is an optional dependency of "
    "PyTorch. To use it, please upgrade your optree package via `python3 -m pip install --upgrade "
    "optree`"
)

try:
    import optree
    from optree import PyTreeSpec
except ModuleNotFoundError as _error:
    raise ImportError(_HOW, name="optree") from _error

if tuple(int(_part) for _part in optree.__version__.split(".")[:3] if _part.isdigit()) < _OLDEST:
    raise ImportError(_HOW, name="optree")

TreeSpec = PyTreeSpec
_NAMESPACE = "torch"
_IsLeaf = Callable[[PyTree], bool] | None
_OPTIONS: dict[str, Any] = {"none_is_leaf": True, "namespace": _NAMESPACE}

__all__ = list(python_pytree.__all__)


# --- containers -----------------------------------------------------------------------------------


def _taken_over(node: _registry.NodeDef) -> None:
    """Let optree take apart what `_pytree` does."""
    kind, flatten, unflatten = node.type, node.flatten_fn, node.unflatten_fn
    if kind in _registry.BUILTIN_TYPES:
        return
    optree.register_pytree_node(
        kind,
        flatten,
        lambda context, children: unflatten(list(children), context),
        namespace=_NAMESPACE,
    )


def _dropped(kind: type) -> None:
    optree.unregister_pytree_node(kind, namespace=_NAMESPACE)


# As in `_pytree`, the order of dictionaries is that of their items.
_insertion_order = optree.dict_insertion_ordered(True, namespace=_NAMESPACE)
_insertion_order.__enter__()
_registry.follow_nodes(_taken_over, _dropped)
for _name in dir(_return_types):
    _kind = getattr(_return_types, _name)
    if _registry.is_structseq_class(_kind) and _kind not in _registry.SUPPORTED_NODES:
        _registry.register_return_type(_kind)


# --- functions of trees ---------------------------------------------------------------------------


def tree_is_leaf(tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Whether an object is a leaf: nothing that `tree_flatten` takes apart."""
    return optree.tree_is_leaf(tree, is_leaf=is_leaf, **_OPTIONS)


def tree_flatten(tree: PyTree, is_leaf: _IsLeaf = None) -> tuple[list[Any], PyTreeSpec]:
    """The leaves of a tree and its structure."""
    return optree.tree_flatten(tree, is_leaf=is_leaf, **_OPTIONS)


def tree_unflatten(leaves: Iterable[Any], treespec: PyTreeSpec) -> PyTree:
    """The tree of a structure and its leaves.

    Raises:
        TypeError: `treespec` is no structure.
    """
    return optree.tree_unflatten(_checked(treespec), leaves)


def _checked(treespec: Any) -> PyTreeSpec:
    if not isinstance(treespec, PyTreeSpec):
        raise _errors.type_error(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}.",
            "Pass what tree_structure gives.",
        )
    return treespec


def tree_iter(tree: PyTree, is_leaf: _IsLeaf = None) -> Iterator[Any]:
    """The leaves of a tree, one after another."""
    return iter(optree.tree_iter(tree, is_leaf=is_leaf, **_OPTIONS))


def tree_leaves(tree: PyTree, is_leaf: _IsLeaf = None) -> list[Any]:
    """The leaves of a tree."""
    return optree.tree_leaves(tree, is_leaf=is_leaf, **_OPTIONS)


def tree_structure(tree: PyTree, is_leaf: _IsLeaf = None) -> PyTreeSpec:
    """The structure of a tree."""
    return optree.tree_structure(tree, is_leaf=is_leaf, **_OPTIONS)


def tree_map(func: Callable, tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """The tree of what a function gives for each leaf, and for what further trees have there."""
    return optree.tree_map(func, tree, *rests, is_leaf=is_leaf, **_OPTIONS)


def tree_map_(func: Callable, tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None) -> PyTree:
    """Call a function of each leaf as `tree_map` does; the result is the tree itself."""
    return optree.tree_map_(func, tree, *rests, is_leaf=is_leaf, **_OPTIONS)


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable, tree: PyTree, is_leaf: _IsLeaf = None
) -> PyTree:
    """`tree_map` of the leaves that are of these types, or that a predicate chooses."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable, tree: PyTree, is_leaf: _IsLeaf = None
) -> PyTree:
    """`tree_map_` of the leaves that are of these types, or that a predicate chooses."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Whether a predicate holds for every leaf."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Whether a predicate holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None
) -> bool:
    """Whether a predicate holds for every leaf of these types."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None
) -> bool:
    """Whether a predicate holds for some leaf of these types."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


# --- structures -----------------------------------------------------------------------------------


def LeafSpec() -> PyTreeSpec:
    """The structure of a leaf."""
    return treespec_leaf()


def treespec_leaf() -> PyTreeSpec:
    """The structure of a leaf."""
    return optree.treespec_leaf(none_is_leaf=True)


def treespec_tuple(iterable: Iterable[PyTreeSpec] = (), /) -> PyTreeSpec:
    """The structure of a tuple of structures."""
    return optree.treespec_tuple(iterable, **_OPTIONS)


def treespec_dict(mapping: Any = (), /, **kwargs: PyTreeSpec) -> PyTreeSpec:
    """The structure of a dictionary of structures."""
    return optree.treespec_dict(dict(mapping, **kwargs), **_OPTIONS)


def treespec_dumps(treespec: PyTreeSpec, protocol: int | None = None) -> str:
    """A structure as JSON, as `_pytree` writes it."""
    tree = tree_unflatten([0] * _checked(treespec).num_leaves, treespec)
    return python_pytree.treespec_dumps(python_pytree.tree_structure(tree), protocol)


def treespec_loads(serialized: str) -> PyTreeSpec:
    """The structure that `treespec_dumps` wrote."""
    spec = python_pytree.treespec_loads(serialized)
    return tree_structure(python_pytree.tree_unflatten([0] * spec.num_leaves, spec))


def treespec_pprint(treespec: PyTreeSpec) -> str:
    """A structure with stars for leaves, as its tree prints."""

    class Leaf:
        def __repr__(self) -> str:
            return "*"

    leaves = [Leaf() for _ in range(_checked(treespec).num_leaves)]
    return repr(tree_unflatten(leaves, treespec))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: PyTreeSpec, is_leaf: _IsLeaf = None
) -> list[Any] | None:
    """The leaves of a tree that is a prefix of a structure, each as often as it stands there."""
    full = tree_unflatten([0] * _checked(treespec).num_leaves, treespec)
    try:
        return optree.broadcast_prefix(tree, full, is_leaf=is_leaf, **_OPTIONS)
    except ValueError:
        return None


# --- what is not there in PyTorch either ----------------------------------------------------------


def _no_paths(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises: keys are `_pytree`'s alone."""
    raise NotImplementedError("KeyPaths are not yet supported in cxx_pytree.")


key_get = keystr = _no_paths
tree_flatten_with_path = tree_leaves_with_path = tree_map_with_path = _no_paths

__getattr__ = _refuses(__name__)
