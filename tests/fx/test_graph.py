"""Graphs: what may be removed, what is wrong with one."""

import pytest

import tapegrad as torch
from tapegrad import fx


def test_a_graph_is_linted_and_cleaned():
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.call_method("relu", (x,))
    y = graph.call_function(torch.neg, (x,))
    graph.output(y)
    with pytest.raises(RuntimeError, match=r"^Tried to erase Node neg but it still had 1 users"):
        graph.erase_node(y)
    assert graph.eliminate_dead_code()
    assert [node.name for node in graph.nodes] == ["x", "neg", "output"]
    y.append(x)
    with pytest.raises(RuntimeError, match="'x' of Node 'neg' was used before it has been"):
        graph.lint()


def test_arguments_of_nodes_refuse_to_be_changed():
    graph = fx.Graph()
    x = graph.placeholder("x")
    node = graph.call_function(torch.cat, ([x, x],))
    with pytest.raises(TypeError, match="'immutable_list' object does not support mutation"):
        node.args[0].append(x)


def test_an_overload_that_writes_is_no_dead_code():
    def program(x):
        torch.ops.aten.add_.Tensor(x, 1)
        torch.ops.aten.neg.default(x)
        return x * 2

    traced = fx.symbolic_trace(program)
    assert traced.graph.eliminate_dead_code()
    assert torch.ops.aten.add_.Tensor in [node.target for node in traced.graph.nodes]
    assert torch.ops.aten.neg.default not in [node.target for node in traced.graph.nodes]
