"""Trees as optree takes them apart; without it, PyTorch's error."""

import builtins
import importlib
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import tapegrad as torch
from tapegrad.utils import _pytree
from tests.messages import raises
from tests.needs import package

Point = namedtuple("Point", "x y")


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


@pytest.fixture
def cxx():
    package("optree", "takes trees apart")
    return importlib.import_module("tapegrad.compat.torch.utils._cxx_pytree")


def test_without_optree_the_import_says_what_to_install(monkeypatch):
    name = "tapegrad.compat.torch.utils._cxx_pytree"
    monkeypatch.delitem(sys.modules, name, raising=False)
    found = builtins.__import__

    def without(module, *args, **kwargs):
        if module.partition(".")[0] == "optree":
            raise ModuleNotFoundError("No module named 'optree'", name="optree")
        return found(module, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"depends on `optree>=0\.13\.0`, which is an optional"):
        importlib.import_module(name)


def test_containers_are_those_of_pytree(cxx):
    tree = {
        "b": [1, (2, None)],
        "a": Point(3, [4]),
        "o": OrderedDict(z=1, y=2),
        "d": defaultdict(list, q=9),
        "e": deque([7, 8], maxlen=4),
        "m": torch.return_types.max((5, 6)),
    }
    leaves, spec = cxx.tree_flatten(tree)
    assert leaves == _pytree.tree_leaves(tree) == [1, 2, None, 3, 4, 1, 2, 9, 7, 8, 5, 6]
    assert cxx.tree_unflatten(leaves, spec) == tree and isinstance(spec, cxx.PyTreeSpec)
    assert cxx.tree_map_only(int, lambda x: -x, [1, "a"]) == [-1, "a"]
    assert cxx.tree_all(bool, [1, 1]) and not cxx.tree_any(bool, [0, 0])
    assert repr(cxx.tree_structure([1])) == "PyTreeSpec([*], NoneIsLeaf, namespace='torch')"


def test_what_is_registered_there_is_known_here_and_forgotten_with_it(cxx):
    _pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda ab, _: Pair(*ab))
    try:
        assert cxx.tree_leaves([Pair(1, [2])]) == [1, 2]
        assert cxx.tree_map(lambda x: x + 1, Pair(1, 2)).b == 3
    finally:
        _pytree._deregister_pytree_node(Pair)
    assert len(cxx.tree_leaves(Pair(1, 2))) == 1


def test_structures_are_written_and_read(cxx):
    spec = cxx.tree_structure([1, {"a": (2, 3)}])
    assert cxx.treespec_loads(cxx.treespec_dumps(spec)) == spec
    assert cxx.treespec_pprint(spec) == "[*, {'a': (*, *)}]"
    assert cxx._broadcast_to_and_flatten(1, spec) == [1, 1, 1]
    assert cxx._broadcast_to_and_flatten([1, 2, 3], spec) is None
    with raises(NotImplementedError, "KeyPaths are not yet supported in cxx_pytree."):
        cxx.keystr(())
