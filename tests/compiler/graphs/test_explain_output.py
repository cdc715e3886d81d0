"""How an explanation prints."""

import tapegrad as torch


def test_it_prints_as_pytorchs():
    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        return y * 2

    lines = str(torch._dynamo.explain(f)(torch.ones(2))).splitlines()
    (place,) = (line for line in lines if "FrameSummary" in line)
    assert place.endswith(" in f>")
    lines.remove(place)
    assert lines == [
        "Graph Count: 2",
        "Graph Break Count: 1",
        "Op Count: 2",
        "Break Reasons:",
        "  Break Reason 1:",
        "    Reason: Call to `torch._dynamo.graph_break()`",
        "    User Stack:",
        "Ops per Graph:",
        "  Ops 1:",
        "    <built-in function add>",
        "  Ops 2:",
        "    <built-in function mul>",
        "Out Guards:",
    ]
