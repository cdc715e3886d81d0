"""The page of a graph, in a browser: what is known of nodes and edges, and a backward pass."""

import tapegrad as torch
from tapegrad.inspect import graph, step, watch
from tests.inspect.graph_models import GPT, small


def test_a_tutorials_graph_has_its_nodes_and_edges(show):
    x = torch.ones(2, 2, requires_grad=True)
    z = (x + 2) ** 2 * 3
    out = z.mean()
    page = show(graph(out))
    assert page.labels() == ["x", "Add", "Pow", "Mul", "Mean", "out"]
    edges = page.do("cy.edges().map((e) => [e.source(), e.target()].map((n) => n.data('label')))")
    assert [[a.split("\n")[0], b.split("\n")[0]] for a, b in edges] == [
        ["x", "Add"],
        ["Add", "Pow"],
        ["Pow", "Mul"],
        ["Mul", "Mean"],
        ["Mean", "out"],
    ]
    assert page.do("cy.nodes('.leaf').length") == 1
    assert not page.find("#steps").is_displayed()  # no gradient was noted


def test_clicking_a_node_tells_all_that_is_known_of_it(show):
    model, x = small()
    with watch():
        loss = model(x).tanh().sum()  # this line
    page = show(graph(loss, gradients=True))
    page.press("f")
    item = page.vertex("TanhBackward0", 1)
    page.at(item).click().perform()
    panel = page.panel()
    assert "The hyperbolic tangent of each element" in panel
    assert "lambda g, y: g * ((1 - y) * (1 + y))" in panel
    assert "loss = model(x).tanh().sum()  # this line" in panel
    assert "test_graph_page.py:" in panel and "tapegrad/operators/" in panel
    assert "[2, 1] float32, from" in panel and "8 B" in panel
    assert "gradient received" in panel and "gradient sent to x" in panel
    math_ = page.find("#panel math")
    assert math_.get_property("namespaceURI").endswith("MathML") and math_.size["height"] > 10
    assert page.find("#panel svg.histogram rect")
    page.find("#panel button[data-vertex]").click()
    assert "AddmmBackward0" in page.panel() and "Sequential.2" in page.panel()
    page.press("f")
    page.at(page.vertex("0.weight")).click().perform()
    assert page.panel().startswith("0.weight\nparameter\nshape (4, 3)")


def test_an_edge_shows_what_flowed(show):
    w = torch.tensor([1.0, 2.0, 2.0], requires_grad=True)
    page = show(graph((w * w).sum(), gradients=True))
    page.do("select(cy.edges()[0].id())")
    assert "w (3,) → Mul (3,)" in page.panel()
    # both factors are w: two edges, drawn as one, each with a gradient of norm 3
    assert page.panel().count("norm 3") == 2 and page.panel().count("values [1, 2, 2]") == 2


def test_searching_goes_to_what_is_hidden_too(show):
    page = show(graph(GPT(4), torch.arange(5)[None]))
    hidden = page.vertex("SoftmaxBackward0", 3)
    page.do("document.getElementById('fold').click()")
    assert page.do(f"cy.getElementById('{hidden}').length") == 0
    page.press("/", "softmaxb")
    assert page.find("#found").text == "4 found"
    page.press(*"\ue007" * 4)  # Enter
    assert page.find("#found").text == "4 of 4"
    assert "GPT.blocks.3.attention" in page.panel()
    assert page.do(f"cy.getElementById('{hidden}').hasClass('found')")


def test_a_node_is_found_by_its_operator_layer_shape_and_line(show):
    model, x = small()
    with watch():
        loss = model(x).tanh().sum()  # this line
    page = show(graph(loss))
    line = page.do("data.vertices.find((v) => v.name === 'SumBackward0').place").rpartition(":")[2]
    found = {
        "tanhb": ["Tanh", "Tanh"],
        "linear": ["weight", "T", "bias", "Addmm"] * 2,  # the class of their layer
        "sequential.1": ["Tanh"],
        "(4, 3)": ["weight"],
        "(4,3)": ["weight"],
        "4x3": ["weight"],
        "this line": ["T", "Addmm", "Tanh", "T", "Addmm", "Tanh", "Sum"],
        f"graph_page.py:{line}": ["T", "Addmm", "Tanh", "T", "Addmm", "Tanh", "Sum"],
        "nothing like it": [],
    }
    for word, labels in found.items():
        page.find("#search").clear()
        page.press("/", word)
        names = page.do("hits.map((i) => labelOf('v' + i)[0])")
        assert sorted(names) == sorted(labels), word
        assert page.panel().startswith(f"{len(labels)} found")
        assert page.do("cy.nodes('.found').length") == len(labels)
    page.press("\ue00c", "\ue00c")  # Escape out of the search
    assert page.panel().startswith("loss" if page.browser.title == "loss" else "graph")


def test_keys_alone_lead_through_the_graph(show):
    model, x = small()
    page = show(graph(model, x))
    up, down, enter = "\ue013", "\ue015", "\ue007"
    page.press(up)  # nothing is chosen yet: the result
    assert page.panel().startswith("result\nresult")
    page.press(up, up)
    assert page.panel().startswith("TanhBackward0")
    page.press(down)
    assert page.panel().startswith("AddmmBackward0") and "Sequential.2" in page.panel()
    page.do("element('panel').querySelector('button[data-vertex]').focus()")
    page.press(enter)  # a link of the panel
    assert page.panel().startswith("2.bias\nparameter")
    page.do("select('g3')")
    page.press(enter)
    assert "▸ 2 Linear" in page.labels()
    page.press(enter)
    assert "▸ 2 Linear" not in page.labels()
    page.press("\ue00c")
    assert page.panel().startswith("Sequential\noperators")


def test_the_backward_pass_is_stepped_forwards_and_back(show):
    model, x = small()
    loss = model(x).sum()
    page = show(graph(loss, gradients=True))
    order = [each.name for each in step(loss)]
    assert page.do("data.timed.map((v) => data.vertices[v].name)")[:5] == order[:5]
    right, left = "\ue014", "\ue012"
    page.press(right, right, right)
    page.do("(window.sent = 0, cy.on('add', '.travelling', () => sent++), 1)")
    page.press(right)
    assert page.find("#now").text.startswith("4 of 10: TanhBackward0")
    assert page.do("cy.nodes('.running').map((n) => n.data('label'))") == ["Tanh\n(2, 4)"]
    carried = page.do("cy.edges('.carrying').map((e) => e.source().data('label'))")
    assert carried == ["Addmm\n(2, 4)"]
    assert page.do("sent") == 1  # a dot, which is gone when it has arrived
    page.until("cy.nodes('.travelling').length === 0")
    page.press(left, left, left)
    assert page.find("#now").text.startswith("1 of 10: SumBackward0")
    page.find("#play").click()
    page.until("now > 1")
    page.find("#last").click()
    assert page.do("cy.elements('.waiting').length") == 0


def test_nan_exploding_vanishing_and_zero_edges_stand_out(show):
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    page = show(graph((x.sqrt() * torch.tensor([0.0, 1.0])).sum(), gradients=True))
    assert page.do("cy.edges('.nan').map((e) => e.source().data('label'))") == ["x\n(2,)"]
    assert "nan on 1 edge: not a number" in page.panel() and "nan" in page.find("#legend").text
    y = torch.tensor(1.0, requires_grad=True)
    page = show(graph(y * 1e9 * 1e-20 + (y * 2 - 5).relu(), gradients=True))
    assert page.do("cy.edges('.vanishing').length") == 2
    assert page.do("cy.edges('.zero').length") >= 1
    a, b = (y * torch.ones(4)).split(2)
    page = show(graph(torch.stack([a, b]).max(0).values.sum(), gradients=True))
    assert page.do("data.edges.filter((e) => e.state === 'zero').length") == 1
    assert page.do("cy.edges('.zero').length") == 0  # it is drawn together with one that is not
    page = show(graph(y * 1e9, gradients=True))
    assert page.do("cy.edges('.exploding').length") == 1


def test_words_of_the_program_cannot_end_the_page(show):
    x = torch.ones(1, requires_grad=True)
    name = "</script><script>alert(1)</script><b>&"
    page = show(graph(x.exp(), params={name: x}, title=name))
    assert page.browser.title == name
    page.do("select('v0')")
    assert page.panel().startswith(name)
