"""Graphs as pictures: the text for Graphviz is PyTorch's."""

from importlib import import_module

import pytest

import tapegrad
from tapegrad import fx
from tapegrad.fx.passes import graph_drawer
from tests.needs import package, pytorch


def network(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU())
            self.lin = nn.Linear(2, 3)
            self.w = nn.Parameter(torch.ones(3))

        def forward(self, x):
            y = self.lin(self.conv(x).mean((2, 3))) * self.w
            top = torch.max(y, dim=0)
            return {"y": torch.cat([y, y.view(3, -1).t()], dim=1)[0:1], "top": [top[0] + 1.5]}

    return Net()


OPTIONS = [
    {},
    {"ignore_getattr": True},
    {"ignore_parameters_and_buffers": True},
    {"skip_node_names_in_args": False},
    {"dot_graph_shape": "box"},
]


def drawn(torch, **options):
    name = torch.__name__
    traced = import_module(f"{name}.fx").symbolic_trace(network(torch))
    drawer = import_module(f"{name}.fx.passes.graph_drawer").FxGraphDrawer
    before = drawer(traced, "net", **options).get_dot_graph().to_string()
    shapes = import_module(f"{name}.fx.passes.shape_prop").ShapeProp
    shapes(traced).propagate(torch.ones(2, 1, 4, 4))
    return before, drawer(traced, "net", **options).get_dot_graph().to_string()


@pytest.mark.parametrize("options", OPTIONS, ids=lambda each: " ".join(each) or "none")
def test_the_text_is_that_of_pytorch(options):
    torch = pytorch()
    package("pydot", "writes the text of pictures")
    assert drawn(tapegrad, **options) == drawn(torch, **options)


def test_parts_are_drawn_apart():
    package("pydot", "writes the text of pictures")
    inner = fx.symbolic_trace(tapegrad.nn.Sequential(tapegrad.nn.ReLU()))
    graph = fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("part", (x,)))
    outer = fx.GraphModule({"part": inner}, graph)
    drawing = graph_drawer.FxGraphDrawer(outer, "whole")
    assert list(drawing.get_all_dot_graphs()) == ["whole", "whole_part"]
    assert "ReLU" in drawing.get_submod_dot_graph("part").to_string()


def test_what_draws_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setattr(graph_drawer, "HAS_PYDOT", False)
    with pytest.raises(RuntimeError, match="FXGraphDrawer requires the pydot package"):
        graph_drawer.FxGraphDrawer(fx.symbolic_trace(lambda x: x), "name")


def test_layers_say_which_of_their_attributes_are_constants():
    torch = pytorch()
    for name in dir(torch.nn):
        theirs = getattr(torch.nn, name)
        if isinstance(theirs, type) and hasattr(theirs, "__constants__") and name[:4] != "Lazy":
            assert list(getattr(tapegrad.nn, name).__constants__) == list(theirs.__constants__), (
                name
            )
