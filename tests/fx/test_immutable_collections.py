"""Lists and dictionaries that refuse to be changed."""

from tapegrad.fx.immutable_collections import immutable_dict, immutable_list
from tapegrad.utils import _pytree


def test_they_are_trees_with_paths():
    tree = immutable_list([1, immutable_dict({"a": 2})])
    paths = [_pytree.keystr(path) for path, _ in _pytree.tree_leaves_with_path(tree)]
    assert paths == ["[0]", "[1]['a']"]
