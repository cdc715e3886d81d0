"""Running a graph node by node."""

import operator

import pytest

import tapegrad as torch
from tapegrad import fx


def test_an_interpreter_says_where_it_failed():
    with pytest.raises(AttributeError, match=r"(?s)While executing %foo : .*call_method"):
        fx.Interpreter(fx.symbolic_trace(lambda x: x.foo())).run(torch.ones(1))


def test_a_transformer_replaces_what_it_runs():
    class Multiply(fx.Transformer):
        def call_function(self, target, args, kwargs):
            new = torch.mul if target is operator.add else target
            return super().call_function(new, args, kwargs)

    def program(x: torch.Tensor, n: int = 3) -> torch.Tensor:
        return x.neg() + n

    new = Multiply(fx.symbolic_trace(program)).transform()
    assert new.code == (
        "\n\n\ndef forward(self, x, n = 3):\n    neg = x.neg();  x = None\n"
        "    mul = torch.mul(neg, n);  neg = n = None\n    return mul\n    "
    )
    assert new(torch.ones(2)).tolist() == [-3.0, -3.0]


def test_a_transformer_keeps_where_nodes_come_from():
    class Add(torch.nn.Module):
        def forward(self, x):
            return x + 1

    tracer = fx.Tracer()
    tracer.record_stack_traces = True
    graph = tracer.trace(Add())
    module = fx.GraphModule(tracer.root, graph)
    add = next(n for n in fx.Transformer(module).transform().graph.nodes if n.name == "add")
    assert "in forward" in add.stack_trace
