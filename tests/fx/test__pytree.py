"""Values in the layout of a spec."""

from tapegrad.fx import _pytree


def test_classes_say_what_their_children_are():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    class Spec:
        type, children_specs = Pair, ()

        def is_leaf(self):
            return False

    class Leaf:
        def is_leaf(self):
            return True

    Spec.children_specs = (Leaf(), Leaf())
    _pytree.register_pytree_flatten_spec(Pair, lambda pair, spec: [pair.a, pair.b])
    try:
        assert _pytree.tree_flatten_spec(Pair(1, 2), Spec()) == [1, 2]
    finally:
        del _pytree.SUPPORTED_NODES[Pair], _pytree.SUPPORTED_NODES_EXACT_MATCH[Pair]
