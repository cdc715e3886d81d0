"""What passes share: names of what nodes call, order, sizes."""

import operator

import pytest

import tapegrad
from tapegrad import fx, nn
from tapegrad.fx.annotate import annotate
from tapegrad.fx.passes.graph_manipulation import (
    get_size_of_all_nodes,
    get_tensor_meta,
    replace_target_nodes_with,
)
from tapegrad.fx.passes.shape_prop import ShapeProp
from tapegrad.fx.passes.tools_common import (
    get_acc_ops_name,
    get_node_target,
    is_node_output_tensor,
    legalize_graph,
    stable_topological_sort,
)


def test_functions_are_named_with_their_module():
    assert get_acc_ops_name(tapegrad.relu) == "torch.relu"
    assert get_acc_ops_name(nn.functional.relu) == "torch.nn.functional.relu"
    assert get_acc_ops_name(operator.add) == "_operator.add"
    assert get_acc_ops_name("a name") == "a name"


def test_what_nodes_call_is_named():
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
    modules = dict(traced.named_modules())
    nodes = list(traced.graph.nodes)
    assert get_node_target(modules, nodes[1]) == "torch.nn.modules.linear.Linear"
    with pytest.raises(AssertionError, match="Expect op types of"):
        get_node_target(modules, nodes[0])
    ShapeProp(traced).propagate(tapegrad.ones(1, 3))
    assert all(is_node_output_tensor(node) for node in nodes)


@pytest.mark.parametrize("sort", [legalize_graph, stable_topological_sort])
def test_nodes_are_put_after_what_they_need(sort):
    traced = fx.symbolic_trace(lambda a, b: (a + b) * a - b)
    nodes = {node.name: node for node in traced.graph.nodes}
    nodes["mul"].append(nodes["add"])
    with pytest.raises(RuntimeError):
        traced.graph.lint()
    assert sort(traced) is traced
    traced.graph.lint()
    traced.recompile()
    a, b = tapegrad.tensor(3.0), tapegrad.tensor(4.0)
    assert traced(a, b) == (a + b) * a - b


def test_sizes_are_counted_in_bytes():
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)))
    with pytest.raises(RuntimeError, match="Check that shape propagation has run"):
        get_tensor_meta(next(iter(traced.graph.nodes)))
    get_size_of_all_nodes(traced, [tapegrad.ones(2, 3)])
    found = {n.name: tuple(n.size_bytes) for n in traced.graph.nodes if n.op != "output"}
    assert found == {"input_1": (24, 24), "_0": (32, 96), "_1": (32, 64)}


def test_what_nodes_call_is_exchanged():
    traced = fx.symbolic_trace(lambda x: tapegrad.neg(x) + tapegrad.neg(x))
    old = ("call_function", tapegrad.neg)
    replace_target_nodes_with(traced, *old, "call_method", "relu")
    assert traced(tapegrad.tensor([-1.0, 2.0])).tolist() == [0, 4]


def test_traced_values_are_annotated():
    traced = fx.symbolic_trace(lambda x: annotate(x.size(0), int) + 1)
    assert "size : int = x.size(0)" in traced.code
    with pytest.raises(RuntimeError, match="already had a type on it"):
        fx.symbolic_trace(lambda x: annotate(annotate(x, int), int))
