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
