"""Trees of containers and leaves: `tree_map` and all that belongs to it.

A tree is a tuple, list, dictionary, named tuple or a container that a program has registered, of
trees; anything else is a leaf. `torch.func` takes and gives trees.
"""

import warnings
from typing import Any

from tapegrad.utils._pytree.registry import *
from tapegrad.utils._pytree.registry import (
    BUILTIN_TYPES,
    SUPPORTED_NODES,
    PyTree,
    _deregister_pytree_node,
    _get_node_type,
    _private_register_pytree_node,
    _register_namedtuple,
    _register_pytree_node,
)
from tapegrad.utils._pytree.serialization import *
from tapegrad.utils._pytree.serialization import treespec_dumps, treespec_loads
from tapegrad.utils._pytree.tree import *
from tapegrad.utils._pytree.tree import tree_is_leaf
from tapegrad.utils._pytree.treespec import *
from tapegrad.utils._pytree.treespec import LEAF as _LEAF_SPEC
from tapegrad.utils._pytree.treespec import TreeSpec
from tapegrad.utils._pytree.treespec import spread as _broadcast_to_and_flatten

__all__ = (
    "Context DumpableContext FlattenFn FromDumpableContextFn LeafSpec PyTree PyTreeSpec "
    "ToDumpableContextFn TreeSpec UnflattenFn is_namedtuple is_namedtuple_class "
    "is_namedtuple_instance is_structseq is_structseq_class is_structseq_instance key_get keystr "
    "register_pytree_node tree_all tree_all_only tree_any tree_any_only tree_flatten "
    "tree_flatten_with_path tree_is_leaf tree_iter tree_leaves tree_leaves_with_path tree_map "
    "tree_map_ tree_map_only tree_map_only_ tree_map_with_path tree_structure tree_unflatten "
    "treespec_dumps treespec_loads treespec_pprint"
).split()


def _is_leaf(tree: PyTree, is_leaf: Any = None) -> bool:
    """The old name of `tree_is_leaf`."""
    text = (
        "torch.utils._pytree._is_leaf is private and will be removed in a future release. Please "
        "use torch.utils._pytree.tree_is_leaf instead."
    )
    warnings.warn(text, FutureWarning, stacklevel=2)
    return tree_is_leaf(tree, is_leaf)


def pytree_to_str(treespec: TreeSpec) -> str:
    """The old name of `treespec_dumps`."""
    text = "`pytree_to_str` is deprecated. Please use `treespec_dumps` instead."
    warnings.warn(text, FutureWarning, stacklevel=2)
    return treespec_dumps(treespec)


def str_to_pytree(json: str) -> TreeSpec:
    """The old name of `treespec_loads`."""
    text = "`str_to_pytree` is deprecated. Please use `treespec_loads` instead."
    warnings.warn(text, FutureWarning, stacklevel=2)
    return treespec_loads(json)


# `_dict_flatten`, `_list_unflatten`, `_deque_flatten_with_keys` and the like
for _kind in BUILTIN_TYPES:
    _node, _name = SUPPORTED_NODES[_kind], _kind.__name__.lower()
    globals()[f"_{_name}_flatten"] = _node.flatten_fn
    globals()[f"_{_name}_unflatten"] = _node.unflatten_fn
    globals()[f"_{_name}_flatten_with_keys"] = _node.flatten_with_keys_fn
