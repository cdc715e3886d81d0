"""The graphs that `torch._dynamo.explain` tells of."""

import operator

import pytest

import tapegrad as torch
from tapegrad import nn

explain = torch._dynamo.explain


def counts(function, *args):
    found = explain(function)(*args)
    return found.graph_count, found.graph_break_count, found.op_count


class Neuron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("mem", torch.zeros(3))

    def forward(self, x):
        self.mem = self.mem * 0.5 + self.layer(x)
        return self.mem


def test_a_call_without_reads_is_one_graph():
    found = explain(Neuron())(torch.ones(2, 3))
    assert (found.graph_count, found.graph_break_count, found.op_count) == (1, 0, 3)
    assert found.ops_per_graph == [[operator.mul, nn.functional.linear, operator.add]]
    assert found.break_reasons == found.out_guards == []
    inputs = [node.name for node in found.graphs[0].graph.nodes if node.op == "placeholder"]
    assert set(inputs) == {
        "l_self_buffers_mem_",
        "l_x_",
        "l_self_modules_layer_parameters_weight_",
        "l_self_modules_layer_parameters_bias_",
    }


@pytest.mark.parametrize("read", ["bool", "item", "float", "tolist", "text", "break", "disabled"])
def test_a_graph_ends_where_values_are_read(read):
    @torch.compiler.disable
    def left_alone(y):
        return y + 5

    reads = {
        "bool": lambda y: bool(y.sum() > 0),
        "item": lambda y: y.sum().item(),
        "float": lambda y: float(y.sum()),
        "tolist": lambda y: y.tolist(),
        "text": lambda y: f"{y}",
        "break": lambda y: torch._dynamo.graph_break(),
        "disabled": left_alone,
    }

    def f(x):
        y = x + 1
        reads[read](y)
        return y * 2

    found = explain(f)(torch.ones(2))
    assert (found.graph_count, found.graph_break_count) == (2, 1)
    assert found.ops_per_graph[1] == [operator.mul]
    (reason,) = found.break_reasons
    assert reason.graph_break and reason.user_stack[0].name == "f"
    first, second = found.graphs
    y = first(torch.tensor([2.0, 3.0]))[-1]
    assert second(y)[0].tolist() == [6.0, 8.0]


def test_a_graph_computes_what_the_call_computes():
    def f(x):
        x = x.clone()
        x += 1
        x[0] = 2
        first, last = x.split(1)
        with torch.no_grad():
            scaled = x * 2
        return x.T, 2 - x, -x, x**2, x @ x, first, last, scaled, torch.stack([x, x], dim=1)

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    found = explain(f)(x)
    assert found.graph_count == 1
    for got, want in zip(found.graphs[0](x), f(x), strict=True):
        assert got.tolist() == want.tolist() and got.requires_grad == want.requires_grad


def test_operations_are_told_from_methods_as_in_pytorch():
    assert counts(lambda x: x.sin() + 1, torch.ones(2)) == (1, 0, 1)
    assert counts(lambda x: torch.sin(x).add(1), torch.ones(2)) == (1, 0, 1)
    assert counts(lambda x: [row * 2 for row in x], torch.ones(3)) == (1, 0, 6)
    assert counts(lambda x: x + torch.rand(2), torch.ones(2)) == (1, 0, 2)


def test_a_custom_function_is_one_operator():
    class Spike(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x > 0).float()

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = torch.ones(2, requires_grad=True)
    found = explain(lambda x: Spike.apply(x * 2).sum())(x)
    assert found.ops_per_graph == [[operator.mul, Spike.apply]]
    found.graphs[0](x)[0].backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_where_nothing_is_computed_there_is_no_graph():
    assert counts(lambda x: x, torch.ones(2)) == (0, -1, 0)
    assert counts(lambda x: x.item() + 1, torch.ones(1)) == (0, -1, 0)


def test_inputs_of_a_graph_have_names_of_their_own():
    held = [torch.full((2,), 2.0), torch.full((2,), 3.0)]

    def f(by_edge):
        return by_edge["a", "to", "b"] * held[0] - held[1]

    x = torch.ones(2)
    found = explain(f)({("a", "to", "b"): x})
    inputs = [node.target for node in found.graphs[0].graph.nodes if node.op == "placeholder"]
    assert all(name.isidentifier() for name in inputs) and len(set(inputs)) == 3
    assert found.graphs[0](x, *held)[0].tolist() == [-1.0, -1.0]


def test_what_raises_raises():
    def fails(x):
        raise ValueError("as it is")

    with pytest.raises(ValueError, match="as it is"):
        explain(fails)(torch.ones(2))
    assert counts(lambda x: x + 1, torch.ones(2)) == (1, 0, 1)


def test_arguments_beside_the_function_are_an_older_form():
    with pytest.warns(FutureWarning, match="is deprecated, use explain"):
        assert explain(lambda x: x + 1, torch.ones(2)).graph_count == 1
