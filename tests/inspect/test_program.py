"""The program of a compiled function, drawn: its parts, what flows between them, its page."""

import json
import re

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph
from tests.compiler.c_programs import needs_compiler
from tests.inspect.graph_models import GPT


def perceptron(backend="numpy"):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(backend=backend)
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step(torch.randn(32, 4), torch.randn(32, 2))
    return step


@pytest.fixture(scope="module")
def transformer():
    """The graph of a training step of a transformer of four blocks."""
    torch.manual_seed(0)
    model = GPT(4)
    optimizer = torch.optim.AdamW(model.parameters())

    @torch.compile(backend="numpy")
    def step(x):
        optimizer.zero_grad()
        loss = model(x)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step(torch.arange(10).view(2, 5))
    return graph(step)


def data_of(drawn):
    """What stands in the page of a graph."""
    found = re.search(r'id="data">(.*?)</script>', drawn.html(), re.S)
    return json.loads(found[1])


def edges_of(drawn):
    return [(edge.source.name, edge.target.name) for edge in drawn.record.edges]


@needs_compiler()
def test_a_training_step_is_drawn_with_its_lines_around_its_parts():
    drawn = graph(perceptron("c"))
    assert drawn.title.endswith("step")
    assert [group.label for group in drawn.record.groups] == [
        "loss = nn.functional.mse_loss(model(x), y)",
        "loss.backward()",
        "optimizer.step()",
    ]
    assert all("test_program.py:" in group.kind for group in drawn.record.groups)
    parts = [v for v in drawn.record.vertices if v.part]
    assert [v.group.number for v in parts] == [0] * 5 + [1] * 4 + [2] * 4
    forward = "add, tanh, multiply"
    edges = edges_of(drawn)
    assert edges.count(("matmul", forward)) == 1 and ("model_0_bias", forward) in edges
    assert (forward, "multiply, sum") in edges  # the derivative of tanh, from forward to backward
    assert ("multiply, sum", "matmul") in edges and ("divide", "result") in edges
    assert ("multiply, sum", "model_0_bias.grad") in edges
    # a parameter stands where it is read, and is told apart from other inputs
    weights = [v for v in drawn.record.vertices if v.name == "model_2_weight"]
    assert [v.group.number for v in weights] == [0, 1, 2]
    assert {v.kind for v in weights} == {"parameter"}
    assert {v.kind for v in drawn.record.vertices if v.name in ("x_", "y_")} == {"leaf"}
    assert [v.doc for v in parts][-1] == "a pass over the elements; updates model_2_bias"


def test_text_lists_the_parts_below_their_lines():
    text = graph(perceptron()).text().splitlines()
    assert re.fullmatch(r".*step: NumPy source, 27 parts, 73 kFLOP, 182 kB", text[0])
    assert text[1].endswith("  loss = nn.functional.mse_loss(model(x), y)")
    assert "  product matmul (32, 64): x_, v10 → v11  16.4 kFLOP, 9.73 kB" in text
    assert text[-1] == "  loop subtract (2,): model_2_bias, v44 → model_2_bias  2 FLOP, 24 B"
    assert graph(perceptron()).text(2).splitlines()[-1] == "... and 25 more parts"


def test_blocks_that_repeat_are_rounds_of_their_own(transformer):
    groups = transformer.record.groups
    top = [group.label for group in groups if group.parent is None]
    blocks = [f"blocks_{i}" for i in range(4)]
    assert [label for label in top if label in blocks] == blocks
    (backward,) = [group for group in groups if group.label == "loss.backward()"]
    inside = [group.label for group in groups if group.parent is backward]
    assert inside == blocks[::-1]
    rounds = [group for group in groups if group.kind == "round"]
    assert len({len(group.members) for group in rounds if group.parent is backward}) == 1
    updates = [group.label for group in rounds if group.label.startswith("blocks_2_")]
    assert updates == [
        name.replace(".", "_") for name, _ in GPT(4).named_parameters() if "blocks.2." in name
    ]
    assert max(len(group.members) for group in groups) <= 60


def test_all_edges_go_forward_and_every_part_is_reached(transformer):
    record = transformer.record
    assert all(edge.source.number < edge.target.number for edge in record.edges)
    inputs = record.inputs_of()
    lonely = [v for v in record.vertices if v.part and v.part.reads and not inputs[v.number]]
    assert {x.is_constant for v in lonely for x in v.part.reads} <= {True}


def test_a_module_has_a_forward_and_a_backward_program():
    torch.manual_seed(0)
    model = torch.compile(nn.Sequential(nn.Linear(3, 4), nn.Tanh()), backend="numpy")
    x = torch.ones(2, 3)
    for _ in range(3):
        model(x).sum().backward()
    drawn = graph(model)
    assert [g.label for g in drawn.record.groups if g.kind == "program"] == ["forward", "backward"]
    phases = {v.phase: v.name for v in drawn.record.vertices if v.part}
    assert list(phases) == ["forward", "backward"]
    edges = edges_of(drawn)
    assert ("tanh", "result") in edges and ("tanh", "subtract") in edges  # kept for backward
    assert ("gradient of the result", "multiply") in edges
    results = [v.name for v in drawn.record.vertices if v.kind == "result"]
    assert results == ["result", "gradient of model_0_weight", "gradient of model_0_bias"]
    assert drawn.text().splitlines()[1] == "forward" and "backward" in drawn.text().splitlines()
    # with an argument it is called, as any function
    assert "TanhBackward0" in [v.name for v in graph(model, x).record.vertices]


def test_a_compiled_method_is_drawn_too():
    class Scaled:
        @torch.compile(backend="numpy")
        def run(self, x):
            return x * 2

    scaled = Scaled()
    for _ in range(3):
        scaled.run(torch.ones(2))
    assert edges_of(graph(scaled.run, title="doubled")) == [
        ("x_", "multiply"),
        ("multiply", "result"),
    ]


def test_what_is_not_compiled_yet_says_so():
    with pytest.raises(RuntimeError, match="is not compiled yet"):
        graph(torch.compile(lambda x: x, backend="numpy"))


def test_the_page_has_costs_guards_and_why_it_was_recorded_again():
    factor = 2

    @torch.compile(backend="numpy")
    def scaled(x):
        return x * factor + 1

    scaled(torch.ones(2, 5))
    scaled(torch.ones(2, 5))
    factor = 3
    scaled(torch.ones(2, 5))
    program = data_of(graph(scaled))["program"]
    assert [line.partition(": ")[0] for line in program["programs"]] == ["NumPy source"] * 2
    assert program["programs"][0].endswith(": holds")
    assert "factor was 2" in program["programs"][1]
    assert "factor was 3" in program["guards"]
    facts = dict(program["facts"])
    assert facts["parts"] == "2, of 2 operations" and facts["arithmetic"] == "20 FLOP"
    assert facts["memory"].startswith("160 B, where eager")


def test_the_page_has_the_source_of_each_part():
    drawn = graph(perceptron())
    data = data_of(drawn)
    parts = [v["part"] for v in data["vertices"] if v["part"]]
    assert len(parts) == 27
    first = parts[0]
    assert first["lines"] == "dot(x_, v10, v11)" and first["operators"] == {"matmul": 1}
    assert first["kind"] == "product" and first["flops"] == 2 * 32 * 64 * 4
    assert [[data["words"][name], shape, n] for name, shape, n in first["reads"]] == [
        ["x_", "(32, 4)", 512],
        ["v10", "(4, 64)", 1024],
    ]
    assert data["program"]["seconds"] == pytest.approx(sum(part["seconds"] for part in parts))
    assert {part["limit"] for part in parts} <= {"memory", "arithmetic"}
    assert data_of(graph(torch.ones(2, requires_grad=True) * 2))["program"] is None


def test_a_program_in_all_other_forms():
    drawn = graph(perceptron())
    assert drawn.svg().count('rect class="op"') == 27
    assert drawn.mermaid().count("subgraph") == 3 == drawn.dot().count("subgraph")


def compiled_loss():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    compiled = torch.compile(model, backend="numpy")
    x = torch.randn(5, 4)
    for _ in range(3):
        loss = (compiled(x) ** 2).sum() + compiled(x).sum()
    return compiled, loss


def test_the_node_of_a_compiled_function_has_its_program():
    compiled, loss = compiled_loss()
    drawn = graph(loss)
    nodes = [v for v in drawn.record.vertices if v.name == "CompiledFunctionBackward"]
    assert len(nodes) == 2 and nodes[0].program is nodes[1].program
    assert nodes[0].program.program["name"] == "Sequential"
    data = data_of(drawn)
    assert [v["program"] for v in data["vertices"]].count(0) == 2 and len(data["programs"]) == 1
    assert any(v["part"] for v in data["programs"][0]["vertices"])
    # tanh's result is kept between the two programs
    kept = {each.name: each.shape for each in nodes[0].kept}
    assert (5, 8) in kept.values() and (5, 4) in kept.values()
    compiled.dynamo_ctx.reset()
    assert {v.program for v in graph(loss).record.vertices} == {None}


def test_a_program_is_opened_from_its_node(show):
    _compiled, loss = compiled_loss()
    page = show(graph(loss))
    page.do("select('v' + data.vertices.findIndex((v) => v.program !== null))")
    assert "its program\nruns as NumPy source" in page.panel()
    page.find("#panel button[data-program]").click()
    page.until("data.program !== null && document.body.dataset.ready !== undefined")
    assert page.do("cy.nodes('.loop').length") > 3 and "back to the graph" in page.panel()
    page.find("#panel button[data-back]").click()
    page.until("data.program === null && document.body.dataset.ready !== undefined")
    assert "CompiledFunction" in page.labels()


@needs_compiler()
def test_clicking_a_part_shows_its_source(show):
    page = show(graph(perceptron("c")))
    assert "13 parts" in page.find("#counts").text and not page.find("#saved").is_displayed()
    panel = page.panel()
    assert "where the time goes at least" in panel and "1 program" in panel
    assert page.do("cy.nodes('.product').length") == 5
    page.press("f")
    page.at(page.vertex("multiply, sum")).click().perform()
    panel = page.panel()
    assert panel.startswith("multiply, sum\na pass over the elements\nshape (32, 64)")
    assert "loss.backward()" in panel and "24.8 kB" in panel
    assert "static void loop" in panel and "#pragma omp simd" in panel
    assert "fused in it" in panel and "model_2_weight" not in panel
    page.do("select('g1')")
    assert "loss.backward()" in page.panel() and "parts 4" in page.panel()
    page.do("select(cy.edges().filter((e) => e.target().data('label') === 'result\\n()')[0].id())")
    assert "divide () → result ()" in page.panel() and "as v18 () float32" in page.panel()


def test_a_large_program_opens_folded(show, transformer):
    page = show(transformer)
    assert page.do("cy.nodes('.plain').length") <= 90
    assert page.do("cy.nodes('.folded').length") > 4
    page.do("document.getElementById('fold').click()")
    group = page.do("data.groups.findIndex((g) => g.label === 'blocks_1')")
    label = page.do(f"cy.getElementById('g{group}').data('label')")
    assert re.search(r"\d+ parts, [\d.]+ %", label)
    page.press("/", "softmax", "\ue007")
    assert "softmax" in page.panel()
