"""Trees of containers and leaves."""

import copy
import dataclasses
import pickle
import time
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import tapegrad as torch
from tapegrad.utils import _pytree as pytree

Point = namedtuple("Point", "x y")
TREES = [
    3,
    None,
    (1, 2),
    [1, [2, 3]],
    {"b": 1, "a": (2,)},
    Point(1, [2]),
    OrderedDict(b=1, a=2),
    defaultdict(list, {"z": 1}),
    deque([1, 2], maxlen=3),
    (),
    {},
    {1, 2},
    time.gmtime(0),
]
TEXTS = [
    "*",
    "*",
    "(*, *)",
    "[*, [*, *]]",
    "{'b': *, 'a': (*,)}",
    "Point(x=*, y=[*])",
    "OrderedDict([('b', *), ('a', *)])",
    "defaultdict(<class 'list'>, {'z': *})",
    "deque([*, *], maxlen=3)",
    "()",
    "{}",
    "*",
    "*",
]


class Box:
    def __init__(self, content, label=None):
        self.content, self.label = content, label


@pytest.fixture(autouse=True)
def box():
    pytree.register_pytree_node(Box, lambda b: ([b.content], b.label), lambda c, b: Box(*c, b))
    yield
    pytree._deregister_pytree_node(Box)


@pytest.mark.parametrize(("tree", "text"), [*zip(TREES, TEXTS, strict=True)])
def test_a_tree_is_put_together_as_it_was(tree, text):
    leaves, spec = pytree.tree_flatten(tree)
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert pytree.treespec_pprint(spec) == text
    assert spec.num_leaves == len(leaves) == len(list(pytree.tree_iter(tree)))
    assert spec == pytree.tree_structure(tree) and hash(spec) == hash(pytree.tree_structure(tree))
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert [x for _, x in pytree.tree_leaves_with_path(tree)] == leaves
    assert all(pytree.key_get(tree, p) is x for p, x in pytree.tree_leaves_with_path(tree))
    assert pytree.tree_is_leaf(tree) is spec.is_leaf() is (text == "*")
    if not isinstance(tree, Point):
        assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


def test_results_of_operators_are_trees():
    found, spec = pytree.tree_flatten(torch.max(torch.ones(2, 2), 0))
    assert len(found) == 2 and spec.type is torch.return_types.max
    assert isinstance(pytree.tree_unflatten([1, 2], spec), torch.return_types.max)
    size = torch.ones(2, 3).shape
    assert pytree.tree_leaves(size) == [2, 3]
    assert pytree.tree_map(lambda n: n + 1, size) == (3, 4)


def test_a_structure_prints_a_line_for_each_child():
    spec = pytree.tree_structure({"a": [1, {"b": 2, "c": (3, 4)}], "d": 5})
    text = """TreeSpec(dict, ['a', 'd'], [TreeSpec(list, None, [*,
    TreeSpec(dict, ['b', 'c'], [*,
      TreeSpec(tuple, None, [*,
        *])])]),
  *])"""
    assert str(spec) == text
    assert (spec.num_nodes, spec.num_leaves, spec.num_children) == (9, 5, 2)
    assert spec.child(1) is pytree.treespec_leaf() and len(spec.children()) == 2


MISMATCHES = [
    ((1, 2), [3, 4], "Node type mismatch; expected <class 'tuple'>, but got <class 'list'>."),
    ((1, 2), (3, 4, 5), "Node arity mismatch; expected 2, but got 3."),
    ({"a": 1}, {"c": 3}, "Node keys mismatch; missing key(s): {'a'}; extra key(s): {'c'}."),
    ({}, 3, "Node type mismatch; expected <class 'dict'>, but got <class 'int'>."),
]


@pytest.mark.parametrize(("tree", "other", "text"), MISMATCHES)
def test_a_tree_that_begins_in_another_way_is_refused(tree, other, text):
    with pytest.raises(ValueError) as caught:
        pytree.tree_map(lambda x, y: x, tree, other)
    assert str(caught.value) == text
    assert pytree._broadcast_to_and_flatten(other, pytree.tree_structure(tree)) in (None, [])


def test_contexts_are_compared_but_for_lengths_of_queues():
    other = namedtuple("Other", "x y")
    with pytest.raises(ValueError, match="Node context mismatch for node type"):
        pytree.tree_map(max, Point(1, 2), other(1, 2))
    with pytest.raises(ValueError, match="Node context mismatch for custom node type"):
        pytree.tree_map(max, Box(1, "a"), Box(1, "b"))
    assert pytree.tree_map(max, deque([1], 2), deque([3], 5)) == deque([3])


def test_dictionaries_are_taken_in_the_order_of_the_first():
    pairs = pytree.tree_map(lambda *xs: xs, {"a": 1, "b": 2}, OrderedDict(b=3, a=4))
    assert pairs == {"a": (1, 4), "b": (2, 3)}
    spec = pytree.tree_structure({"b": (1, 2), "a": 1})
    assert pytree._broadcast_to_and_flatten({"a": "x", "b": "y"}, spec) == ["y", "y", "x"]


def test_functions_of_leaves():
    tree = {"a": (1, "b"), "c": [2.0, None]}
    assert pytree.tree_map_only(int, lambda x: -x, tree)["a"] == (-1, "b")
    assert pytree.tree_map_only((int, float), lambda x: -x, tree)["c"] == [-2.0, None]
    assert pytree.tree_map_only(lambda x: x == "b", str.upper, tree)["a"] == (1, "B")
    with pytest.raises(TypeError, match="Argument must be a type, a tuple of types, or a callable"):
        pytree.tree_map_only(3, str.upper, tree)
    seen = []
    assert pytree.tree_map_(seen.append, tree) is tree and seen == [1, "b", 2.0, None]
    assert pytree.tree_any(lambda x: x is None, tree) and not pytree.tree_all(bool, tree)
    assert pytree.tree_all_only(int, bool, tree) and not pytree.tree_any_only(
        str, str.isupper, tree
    )
    assert pytree.tree_leaves(tree, is_leaf=lambda x: isinstance(x, list)) == [1, "b", [2.0, None]]
    assert pytree.arg_tree_leaves(1, (2, 3), a=4) == [1, 2, 3, 4]
    named = pytree.tree_map_with_path(
        lambda path, x: (pytree.keystr(path), x), Point(1, [{"a": 2}])
    )
    assert named == Point((".x", 1), [{"a": (".y[0]['a']", 2)}])


def test_the_number_of_leaves_must_be_right():
    spec = pytree.tree_structure((1, 2))
    with pytest.raises(ValueError, match=r"`leaves` has length 1 but the spec refers to a pytree"):
        pytree.tree_unflatten([1], spec)
    assert pytree.tree_unflatten(iter([1, 2]), spec) == (1, 2)
    with pytest.raises(TypeError, match="Expected `treespec` to be an instance of PyTreeSpec"):
        pytree.tree_unflatten([1], 3)


def test_a_class_is_registered_once_and_can_be_forgotten():
    with pytest.raises(ValueError, match="is already registered as pytree node"):
        pytree.register_pytree_node(Box, lambda b: ([], None), lambda c, b: Box(1))
    with pytest.raises(ValueError, match="Both to_dumpable_context and from_dumpable_context"):
        pytree.register_pytree_node(Point, list, list, to_dumpable_context=str)
    with pytest.raises(ValueError, match="Did not find a flatten_with_keys_fn for type"):
        pytree.tree_leaves_with_path(Box(1))
    with pytest.raises(NotImplementedError, match="No registered serialization name for"):
        pytree.treespec_dumps(pytree.tree_structure(Box(1)))


def test_dataclasses_are_containers_of_their_fields():
    @dataclasses.dataclass
    class Pair:
        a: int
        b: object = None
        c: int = dataclasses.field(init=False, default=3)

    pytree.register_dataclass(Pair, serialized_type_name="Pair")
    leaves, spec = pytree.tree_flatten(Pair(1))
    assert leaves == [1] and pytree.tree_unflatten([5], spec) == Pair(5)
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    path, found = pytree.tree_leaves_with_path(Pair(1, [2]))[1]
    assert pytree.keystr(path) == ".b[0]" and found == 2
    with pytest.raises(ValueError, match=r"Missing fields in `field_names`: \{'b'\}"):
        pytree.register_dataclass(Pair, field_names=["a"])
    with pytest.raises(ValueError, match=r"Unexpected fields in `field_names`: \{'q'\}"):
        pytree.register_dataclass(Pair, field_names=["a", "b", "q"])
    with pytest.raises(ValueError, match="as it is not a dataclass"):
        pytree.register_dataclass(Box)


def test_constants_are_part_of_the_structure():
    @dataclasses.dataclass(frozen=True)
    class Mode:
        name: str

    pytree.register_constant(Mode)
    tree = (Mode("a"), 1)
    leaves, spec = pytree.tree_flatten(tree)
    assert leaves == [1] and pytree.tree_unflatten([1], spec) == tree
    assert spec != pytree.tree_structure((Mode("b"), 1))
    assert pytree.is_constant_class(Mode) and not pytree.is_constant_class(Box)
    with pytest.raises(TypeError, match="non-default `__eq__`"):
        pytree.register_constant(Box)


def test_names_of_named_tuples_in_json():
    spec = pytree.tree_structure(Point(1, 2))
    with pytest.raises(NotImplementedError, match="Can't serialize TreeSpec of namedtuple class"):
        pytree.treespec_dumps(spec)
    pytree._register_namedtuple(Point, serialized_type_name="test.Point")
    try:
        assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    finally:
        del pytree.SUPPORTED_SERIALIZED_TYPES[Point]
        del pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE["test.Point"]


def test_json_that_cannot_be_written_or_read():
    with pytest.raises(TypeError, match="Unable to serialize context"):
        pytree.treespec_dumps(pytree.tree_structure({torch.float32: 4}))
    with pytest.raises(ValueError, match=r"Unknown protocol 7. Available protocols: \[1\]"):
        pytree.treespec_loads("[7, {}]")
    with pytest.raises(NotImplementedError, match="Deserializing foo in pytree is not registered"):
        pytree.treespec_loads('[1, {"type": "foo", "context": "null", "children_spec": []}]')


def test_old_names_warn():
    spec = pytree.tree_structure([1])
    with pytest.warns(FutureWarning, match="treespec_dumps"):
        text = pytree.pytree_to_str(spec)
    with pytest.warns(FutureWarning, match="treespec_loads"):
        assert pytree.str_to_pytree(text) == spec
    with pytest.warns(FutureWarning, match="tree_is_leaf"):
        assert not pytree._is_leaf([1])
    with pytest.warns(FutureWarning, match=r"isinstance\(treespec, LeafSpec\)"):
        assert isinstance(spec.child(0), pytree.LeafSpec)
    with pytest.warns(FutureWarning, match="treespec.children_specs"):
        assert spec.children_specs == [pytree.LeafSpec()]
    with pytest.warns(UserWarning, match="Overwriting the previous registration"):
        pytree._private_register_pytree_node(Box, lambda b: ([], b), lambda c, b: b)


def test_structures_by_hand():
    leaf = pytree.treespec_leaf()
    assert pytree.treespec_tuple([leaf, leaf]) == pytree.tree_structure((1, 2))
    assert pytree.treespec_dict(a=leaf) == pytree.tree_structure({"a": 1})
    with pytest.raises(ValueError, match="Expected a tuple of TreeSpec values"):
        pytree.treespec_tuple([3])
    with pytest.raises(ValueError, match="Expected a dictionary of TreeSpec values"):
        pytree.treespec_dict(a=3)


def test_transforms_take_registered_containers():
    doubled = torch.func.vmap(lambda b: Box(b.content * 2))(Box(torch.ones(3)))
    assert doubled.content.tolist() == [2, 2, 2]
    slope = torch.func.grad(lambda b: (b.content**2).sum())(Box(torch.ones(2)))
    assert slope.content.tolist() == [2, 2]


def test_the_ways_of_built_in_containers_have_names():
    assert pytree._dict_flatten({"a": 1}) == ([1], ["a"])
    assert pytree._dict_unflatten([2], ["a"]) == {"a": 2}
    keyed, context = pytree._ordereddict_flatten_with_keys(OrderedDict(a=1))
    assert keyed == [(pytree.MappingKey("a"), 1)] and context == ["a"]
