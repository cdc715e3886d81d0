"""The graph of tensors and of calls: what is written down of it, as text, shown and saved."""

import re
import webbrowser
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import Graph, graph, watch
from tapegrad.inspect.stepping import Flow


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), torch.ones(2, 3)


def vertex(drawn, name):
    (found,) = [v for v in drawn.record.vertices if v.name == name]
    return found


def test_leaves_are_named_by_the_variables_of_the_caller():
    weight = torch.ones(2, requires_grad=True)
    result = (weight * torch.ones(2, requires_grad=True)).exp()
    drawn = graph(result)
    assert [(v.kind, v.name) for v in drawn.record.vertices] == [
        ("leaf", "weight"),
        ("leaf", ""),
        ("operator", "MulBackward0"),
        ("operator", "ExpBackward0"),
        ("result", "result"),
    ]
    assert vertex(graph(result, params={"w": weight}), "w").shape == (2,)


def test_a_call_of_a_model_knows_layers_lines_and_shapes():
    model, x = small()
    drawn = graph(model, x)
    assert [(g.name, g.kind, g.parent and g.parent.name) for g in drawn.record.groups] == [
        ("Sequential", "Sequential", None),
        ("0", "Linear", "Sequential"),
        ("1", "Tanh", "Sequential"),
        ("2", "Linear", "Sequential"),
    ]
    tanh = vertex(drawn, "TanhBackward0")
    assert (tanh.shape, tanh.dtype, tanh.module) == ((2, 4), "float32", "Sequential.1")
    assert tanh.file == __file__ and tanh.code == "drawn = graph(model, x)"
    assert vertex(drawn, "0.weight").group.name == "0"
    assert [(k.name, k.n_bytes) for k in tanh.kept] == [("y", 32)]
    assert drawn.record.n_bytes == 32 + 24  # tanh's output, which addmm keeps too, and x


def test_a_layer_that_is_called_twice_is_two_groups():
    layer = nn.Linear(2, 2)
    with watch():
        y = layer(layer(torch.ones(1, 2)).exp())
    drawn = graph(y)
    assert [g.kind for g in drawn.record.groups] == ["Linear", "Linear"]
    assert vertex(drawn, "weight").group is None  # both use it
    drawn = graph(nn.Sequential(layer, layer), torch.ones(1, 2))  # with nothing in between
    assert [g.name for g in drawn.record.groups] == ["Sequential", "0", "0"]
    assert [len(g.members) for g in drawn.record.groups] == [2, 2, 2]


def test_each_step_of_a_recurrent_layer_is_a_group():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTMCell(2, 3)

        def forward(self, xs):
            state = None
            for x in xs:
                state = self.cell(x, state)
            return state[0]

    groups = graph(Net(), torch.ones(4, 1, 2)).record.groups
    assert [g.label for g in groups] == ["Net", "cell", "cell", "cell", "cell"]


def test_parameters_are_named_by_the_layer_that_was_called():
    def loss():
        model, x = small()
        return model(x)

    with watch():
        y = loss()
        names = {v.name for v in graph(y).record.vertices if v.kind == "parameter"}
    assert names == {""}  # the model has gone, and nobody knows a name
    model, x = small()
    trainer = {"model": model}
    del model
    with watch():
        y = trainer["model"](x)
    names = {v.name for v in graph(y).record.vertices if v.kind == "parameter"}
    assert names == {"0.weight", "0.bias", "2.weight", "2.bias"}


def test_layers_in_a_list_have_their_path():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    drawn = graph(Net(), torch.ones(1, 2))
    assert [g.label for g in drawn.record.groups] == ["Net", "blocks.0", "blocks.1"]


def test_the_gradients_are_those_of_backward_and_everything_stays_as_it_was():
    model, x = small()
    calls = []
    model[0].weight.register_hook(lambda g: calls.append(g))
    y = model(x)
    y.retain_grad()
    loss = y.pow(2).sum()
    drawn = graph(loss, gradients=True)
    assert not calls and y.grad is None and all(p.grad is None for p in model.parameters())
    loss.backward()
    for name, p in model.named_parameters():
        (flow,) = vertex(drawn, name).received
        assert flow.norm == pytest.approx(p.grad.norm().item(), rel=1e-5)
        assert (flow.low, flow.high) == (p.grad.min().item(), p.grad.max().item())
        assert sum(flow.bins) in (0, p.numel())
    times = [v.time for v in drawn.record.vertices if v.time is not None]
    assert sorted(times) == list(range(len(times)))


def test_a_watched_pass_is_shown_after_it_has_freed_the_graph():
    model, x = small()
    with watch(gradients=True):
        loss = model(x).pow(2).sum()
        loss.backward()
    drawn, p = graph(loss), model[2].bias
    assert vertex(drawn, "2.bias").received[0].norm == pytest.approx(p.grad.norm().item())
    assert [k.name for k in vertex(drawn, "TanhBackward0").kept] == ["y"]
    plain = small()[0](x).sum()
    plain.backward()
    assert vertex(graph(plain), "TanhBackward0").kept is None
    assert "what it kept was freed" in graph(plain).text()


def test_a_gradient_in_numbers():
    flow = Flow(np.array([3e30, -4e30, 0.0], np.float32))
    assert flow.norm == pytest.approx(5e30) and flow.n_zero == 1  # its square is no float32
    assert Flow(np.full(4, 1e-30, np.float32)).norm == pytest.approx(2e-30)
    flow = Flow(np.array([np.nan, np.inf, 3.0, 4.0]))
    assert (flow.n_nan, flow.n_inf, flow.norm, flow.low, flow.high) == (1, 1, 5, 3, 4)
    flow = Flow(np.arange(100_000.0))  # so many that the histogram counts some of them
    assert (
        len(flow.bins) == 24 and max(flow.bins) - min(flow.bins) <= 1 and sum(flow.bins) == 20_000
    )
    assert Flow(np.zeros((0, 3))).state(1.0) == ""


def test_edges_that_stand_out():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    states = {}
    for name, y in {
        "nan": (x.sqrt() * torch.tensor([0.0, 1.0])).sum(),
        "zero": (x - 9).relu().sum(),
        "vanishing": (x * 1e-7).sum(),
        "exploding": (x * 1e7).sum(),
        "": (x * 2).sum(),
    }.items():
        states[name] = {e.state for e in graph(y, gradients=True).record.edges}
    assert states == {
        "nan": {"", "nan"},
        "zero": {"", "zero"},
        "vanishing": {"", "vanishing"},
        "exploding": {"", "exploding"},
        "": {""},
    }


def test_several_results_and_outputs():
    x = torch.arange(4.0, requires_grad=True)
    a, b = x.split(2)
    drawn = graph((a.exp(), b), gradients=True)
    assert [v.name for v in drawn.record.vertices if v.kind == "result"] == ["result", "b"]
    ports = {(e.target.name, e.port) for e in drawn.record.edges if e.source.name[:5] == "Split"}
    assert ports == {("ExpBackward0", 0), ("b", 1)}
    assert drawn.text().count("SplitBackward0") == 2


def test_the_rule_of_a_custom_function_is_its_backward():
    class Cube(torch.autograd.Function):
        """The third power."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = torch.ones(2, requires_grad=True)
    node = vertex(graph(Cube.apply(x)), "CubeBackward")
    (rule,) = node.rules
    assert node.doc == "The third power."
    assert rule.source.splitlines()[:2] == ["def backward(ctx, g):", "    (x,) = ctx.saved_tensors"]


def test_a_tensor_that_was_written_in_part_has_its_whole_shape():
    x = torch.ones(4, requires_grad=True)
    with watch():
        y = x * 2
        y[1:3].mul_(3)
    node = vertex(graph(y.sum(), gradients=True), "CopySlices")
    assert (node.shape, node.dtype) == ((4,), "float32")
    assert node.doc == "The node of a tensor that was written through a view."
    assert node.code == "y[1:3].mul_(3)"


def test_it_is_a_tree_in_the_terminal():
    x = torch.ones(2, requires_grad=True)
    with watch():
        y = (x * 3).exp()
    line = f"{__file__}:{test_it_is_a_tree_in_the_terminal.__code__.co_firstlineno + 3}"
    assert str(graph((y * y).sum())).splitlines() == [
        "SumBackward0 () float32",
        "MulBackward0 (2,) float32",
        "│ keeps other: [2] float32, all 20.09",
        "│ keeps input: [2] float32, all 20.09",
        f"├─ ExpBackward0 (2,) float32  {line} #1",
        "│  │ keeps y: [2] float32, all 20.09",
        f"│  MulBackward0 (2,) float32  {line}",
        "│  │ with other=3",
        "│  AccumulateGrad x (2,) float32",
        "└─ ↑ ExpBackward0 #1",
    ]


def test_files_are_written_as_their_names_end(tmp_path):
    model, x = small()
    drawn = graph(model, x, gradients=True)
    starts = {
        "html": "<!doctype html>",
        "svg": "<svg ",
        "dot": "digraph {",
        "mmd": "flowchart TD",
        "md": "```mermaid\nflowchart TD",
        "txt": "AddmmBackward0 (2, 1)",
    }
    for ending, start in starts.items():
        drawn.save(tmp_path / f"graph.{ending}")
        assert (tmp_path / f"graph.{ending}").read_text(encoding="utf-8").startswith(start)
    with pytest.raises(ValueError, match="cannot tell from"):
        drawn.save(tmp_path / "graph.png")


def test_a_deep_graph_is_no_problem():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y.exp()
    drawn = graph(y)
    assert len(drawn.record.vertices) == 20_002
    assert drawn.text(max_nodes=3).endswith("… and 19,998 more")
    assert max(len(g.members) for g in drawn.record.groups) <= 60


def test_a_model_may_give_its_tensors_in_a_dataclass():
    @dataclass
    class Output:
        loss: torch.Tensor
        text: str = "fine"

    class Net(nn.Module):
        def forward(self, x):
            return Output(x.exp().sum())

    x = torch.ones(2, requires_grad=True)
    assert graph(Net(), x).text().startswith("SumBackward0 ()")
    with pytest.raises(TypeError, match=r"length\(\) gave no tensors but int"):
        graph(length, x)


def length(x):
    return len(x)


def test_a_result_that_is_used_as_well_is_pointed_back_to_by_number():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    text = graph((y.sum(), y)).text().splitlines()
    assert text[1] == "ExpBackward0 (2,) float32 #1" and text[-1] == "↑ ExpBackward0 #1"


def test_a_complex_number_begins_with_one():
    z = torch.tensor(1 + 2j, requires_grad=True)
    assert vertex(graph(z * 2, gradients=True), "z").received[0].norm == 2


def test_what_a_checkpoint_does_not_keep_is_said_so():
    x = torch.ones(2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False)
    assert "with y=a tensor that is computed again" in graph(y).text()


def test_what_has_no_graph_is_refused():
    with pytest.raises(ValueError, match="the tensor has no graph: it does not require grad"):
        graph(torch.ones(2))
    with pytest.raises(TypeError, match="graph\\(\\) takes tensors or a function"):
        graph(3)
    with pytest.raises(TypeError, match="takes inputs for a function"):
        graph(torch.ones(2, requires_grad=True), torch.ones(2))


def test_a_leaf_alone_is_a_graph():
    x = torch.ones(2, requires_grad=True)
    assert graph(x).text() == "AccumulateGrad x (2,) float32"


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("BROWSER", raising=False)
    return tmp_path


def test_show_opens_the_page(monkeypatch, home, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.get", lambda: webbrowser.BackgroundBrowser("firefox"))
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    drawn = graph(torch.ones(2, requires_grad=True).exp())
    drawn.show()
    (page,) = home.glob("tapegrad-*/graph.html")
    assert opened == [page.as_uri()] and page.stat().st_size > 400_000
    (home / "snap/firefox/common").mkdir(parents=True)  # a browser that sees no other folder
    drawn.show()
    (page,) = home.glob("snap/firefox/common/tapegrad-*/graph.html")
    assert opened[1:] == [page.as_uri()] and capsys.readouterr().out == ""


def test_show_says_where_the_page_is_when_there_is_no_browser_that_draws(monkeypatch, home, capsys):
    def none():
        raise webbrowser.Error("could not locate runnable browser")

    for get in (none, lambda: webbrowser.GenericBrowser("lynx")):
        monkeypatch.setattr("webbrowser.get", get)
        graph(torch.ones(2, requires_grad=True).exp()).show()
        said = capsys.readouterr().out
        assert said.startswith("no browser was found; the page is ")
        assert Path(said.split()[-1]).read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_notebook_shows_it_inline():
    bundle = graph(torch.ones(2, requires_grad=True).exp())._repr_mimebundle_()
    assert bundle["text/plain"].startswith("ExpBackward0 (2,)")
    assert bundle["text/html"].startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert 100_000 < len(bundle["text/html"]) < 300_000  # half of what the page has
    assert isinstance(graph(torch.ones(2, requires_grad=True)), Graph)


def test_the_transpose_of_a_weight_has_its_shape_though_nobody_kept_it():
    model, x = small()
    y = model(x)  # not watched
    shapes = {v.shape for v in graph(y).record.vertices if v.name == "TBackward0"}
    assert shapes == {(3, 4), (4, 1)}


def test_the_languages_of_other_programs_have_every_node_edge_and_layer():
    model, x = small()
    drawn = graph(model, x, gradients=True)
    record = drawn.record
    dot, mermaid = drawn.dot(saved=True), drawn.mermaid()
    for text, arrow, group in ((dot, " -> v", "subgraph cluster_"), (mermaid, " --", "subgraph g")):
        assert len(re.findall(r"^ *v\d+ ?\[", text, re.M)) == len(record.vertices)
        assert text.count(group) == len(record.groups) == 4
        plain = "\n".join(line for line in text.splitlines() if "dir=none" not in line)
        assert plain.count(arrow) == len(record.edges)
    assert dot.count("dir=none") == 4
    assert dot.count("{") == dot.count("}")
    assert (
        '["a#34;#60;#35;'
        in graph(model[0].weight.exp(), params={'a"<#': model[0].weight}).mermaid()
    )
    assert mermaid.count("subgraph") == len(re.findall(r"^ *end$", mermaid, re.M))


@pytest.mark.parametrize(
    ("model", "shape", "leaf"),
    [
        (lambda: nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)), (8, 5), "0.bias"),
        (lambda: nn.Sequential(nn.Conv2d(1, 4, 3), nn.InstanceNorm2d(4)), (2, 1, 8, 8), "0.bias"),
        (lambda: nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(4, 4)), (2, 1, 8, 8), "0.bias"),
        (lambda: nn.Sequential(nn.Linear(5, 4), nn.Tanh()), (8, 5), None),
        (lambda: nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4).eval()), (8, 5), None),
    ],
)
def test_a_bias_before_a_normalisation_says_why_its_gradient_vanishes(model, shape, leaf):
    torch.manual_seed(0)
    net = model()
    loss = graph(lambda x: net(x).tanh().pow(2).sum(), torch.randn(shape), gradients=True)
    why = {edge.source.name: edge.why for edge in loss.record.edges if edge.why}
    assert list(why) == ([leaf] if leaf else [])
    assert all("bias=False" in each for each in why.values())


def test_parameters_have_their_whole_path_whatever_variables_there_are():
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 1)))
    head = model[1]
    for _name, param in model.named_parameters():
        assert param.requires_grad
    with watch():
        y = head(model[0](torch.ones(2, 3))).sum()
    names = {v.name for v in graph(y).record.vertices if v.kind == "parameter"}
    assert names == {"0.weight", "0.bias", "1.0.weight", "1.0.bias"}
    (given,) = [v for v in graph(y, params={"last": param}).record.vertices if v.name == "last"]
    assert given.shape == (1,)
