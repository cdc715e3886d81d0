"""Shapes of the values of a graph."""

import tapegrad as torch
from tapegrad import fx, nn
from tapegrad.fx.passes.shape_prop import ShapeProp


def test_shapes_are_noted():
    traced = fx.symbolic_trace(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    ShapeProp(traced).propagate(torch.ones(5, 3))
    found = {n.name: n.meta["tensor_meta"] for n in traced.graph.nodes if n.op == "call_module"}
    assert found["_0"].shape == (5, 4)
    assert found["_2"].stride == (2, 1)
    assert '_0: "f32[5, 4]"' in traced.print_readable(print_output=False)
