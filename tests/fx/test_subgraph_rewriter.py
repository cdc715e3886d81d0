"""Patterns in a graph, and what stands there instead."""

import tapegrad as torch
from tapegrad import fx


def test_a_pattern_is_replaced_everywhere():
    traced = fx.symbolic_trace(lambda x: torch.neg(x) + torch.neg(x * 2))
    matches = fx.replace_pattern(traced, lambda x: torch.neg(x), lambda x: torch.relu(x))
    assert [match.anchor.name for match in matches] == ["neg", "neg"]
    assert traced.code == (
        "\n\n\ndef forward(self, x):\n    mul = x * 2\n    relu = torch.relu(x);  x = None\n"
        "    relu_1 = torch.relu(mul);  mul = None\n"
        "    add = relu + relu_1;  relu = relu_1 = None\n    return add\n    "
    )
    assert traced(torch.tensor([2.0, -1.0])).tolist() == [6.0, 0.0]


def test_filters_see_the_match_and_choose_among_places():
    traced = fx.symbolic_trace(lambda x: torch.relu(x + 1) + torch.relu(x + 2))
    done = fx.subgraph_rewriter.replace_pattern_with_filters(
        traced,
        lambda a: torch.relu(a),
        lambda a: torch.tanh(a),
        match_filters=[
            lambda match, graph, pattern: match.placeholder_nodes[0].args[1] == 1,
            lambda match, graph, pattern: [n.name for n in match.returning_nodes] == ["relu"],
        ],
    )
    assert [(each.anchor.name, [n.name for n in each.replacements]) for each in done] == [
        ("relu", ["tanh"])
    ]
    assert "torch.tanh(add)" in traced.code
    assert "torch.relu(add_1)" in traced.code


def test_the_replacement_may_be_made_for_each_match():
    new = fx.symbolic_trace(lambda a: torch.cos(a)).graph
    traced = fx.symbolic_trace(lambda x: torch.relu(x) * 2)
    fx.subgraph_rewriter.replace_pattern_with_filters(
        traced, lambda a: torch.relu(a), replacement_callback=lambda match, graph, pattern: new
    )
    assert "torch.cos(x)" in traced.code


def test_a_replacement_brings_its_modules_and_unused_ones_go():
    class Layer(torch.nn.Module):
        def __init__(self, **layers):
            super().__init__()
            for name, layer in layers.items():
                setattr(self, name, layer)

        def forward(self, x):
            for layer in self.children():
                x = layer(x)
            return x

    old = {"linear": torch.nn.Linear(2, 2), "relu": torch.nn.ReLU()}
    traced = fx.symbolic_trace(Layer(**old))
    done = fx.replace_pattern(traced, Layer(**old), Layer(tanh=torch.nn.Tanh()))
    assert len(done) == 1
    assert [name for name, _ in traced.named_children()] == ["tanh"]
    assert traced(torch.zeros(1, 2)).tolist() == [[0.0, 0.0]]


def test_the_anchor_is_the_first_result():
    def both(x, y):
        return torch.add(x, y), torch.mul(x, y)

    (match,) = fx.replace_pattern(fx.symbolic_trace(both), both, lambda x, y: (x, y))
    assert match.anchor.name == "add"
