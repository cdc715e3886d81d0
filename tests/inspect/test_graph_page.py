"""The page of a graph, in a browser, as a person uses it."""

import math

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph, step, watch
from tests.inspect import chromium


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def show(browser, tmp_path):
    """Opens the page of a graph; in the end, it has neither complained nor asked for anything."""
    pages = []

    def open_(drawn):
        path = tmp_path / "graph.html"
        drawn.save(path)
        pages.append(chromium.Page(browser, path))
        return pages[-1]

    yield open_
    for page in pages[-1:]:
        assert page.complaints() == []


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        n, t, c = x.shape
        split = self.qkv(x).split(c, 2)
        q, k, v = (each.view(n, t, self.heads, -1).transpose(1, 2) for each in split)
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        scores = scores.masked_fill(torch.tril(torch.ones(t, t)) == 0, float("-inf"))
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(n, t, c))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, n_blocks, width=8, heads=2, words=11):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(n_blocks)])
        self.head = nn.Linear(width, words)

    def forward(self, x):
        x = self.words(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x).logsumexp(-1).mean()


def small():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    return model, torch.arange(6.0).view(2, 3) / 5


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
    item = page.vertex("TanhBackward0", 1)
    page.at(item).click().perform()
    panel = page.panel()
    assert "The hyperbolic tangent of each element" in panel
    assert "lambda g, y: g * ((1 - y) * (1 + y))" in panel
    assert "loss = model(x).tanh().sum()  # this line" in panel
    assert "test_graph_page.py:" in panel and "tapegrad/ops/" in panel
    assert "[2, 1] float32, from" in panel and "8 B" in panel
    assert "gradient received" in panel and "gradient sent to x" in panel
    math_ = page.find("#panel math")
    assert math_.get_property("namespaceURI").endswith("MathML") and math_.size["height"] > 10
    assert page.find("#panel svg.histogram rect")
    page.find("#panel a[data-vertex]").click()
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
    assert page.panel().count("norm") == 2 and page.panel().count("1, 2\n") == 2


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


def test_layers_fold_and_unfold(show):
    model, x = small()
    page = show(graph(model, x))
    assert sorted(page.labels()) == sorted(
        ["Addmm", "Addmm", "T", "T", "Tanh", "bias", "bias", "result", "weight", "weight"]
    )
    page.find("#fold").click()
    assert sorted(page.labels()) == ["Sequential", "result"]
    page.at("g0").click().perform()
    assert sorted(page.labels()) == ["0 Linear", "1 Tanh", "2 Linear", "result"]
    page.at("g1").click().perform()
    assert sorted(page.labels())[-4:] == ["T", "bias", "result", "weight"]
    assert "operators 2" in page.panel() and "parameters 2" in page.panel()
    page.find("#panel button").click()
    assert sorted(page.labels()) == ["0 Linear", "1 Tanh", "2 Linear", "result"]
    page.find("#unfold").click()
    assert len(page.labels()) == 10
    page.find("#saved").click()
    assert len(page.labels()) == 14  # of what addmm, tanh and addmm keep


def test_the_backward_pass_is_stepped_forwards_and_back(show):
    model, x = small()
    loss = model(x).sum()
    page = show(graph(loss, gradients=True))
    order = [each.name for each in step(loss)]
    assert page.do("data.timed.map((v) => data.vertices[v].name)")[:5] == order[:5]
    right, left = "\ue014", "\ue012"
    page.press(right, right, right, right)
    assert page.find("#now").text.startswith("4 of 10: TanhBackward0")
    assert page.do("cy.nodes('.running').map((n) => n.data('label'))") == ["Tanh\n(2, 4)"]
    carried = page.do("cy.edges('.carrying').map((e) => e.source().data('label'))")
    assert carried == ["Addmm\n(2, 4)"]
    assert page.do("cy.nodes('.travelling').length") >= 1
    page.press(left, left, left)
    assert page.find("#now").text.startswith("1 of 10: SumBackward0")
    page.find("#play").click()
    page.browser.implicitly_wait(0)
    assert page.do("new Promise((done) => setTimeout(() => done(now > 1), 1500))")
    page.find("#last").click()
    assert page.do("cy.elements('.waiting').length") == 0


def test_nan_exploding_vanishing_and_zero_edges_stand_out(show):
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    page = show(graph((x.sqrt() * torch.tensor([0.0, 1.0])).sum(), gradients=True))
    assert page.do("cy.edges('.nan').map((e) => e.source().data('label'))") == ["x\n(2,)"]
    assert "nan on 1 edges" in page.panel() and "nan" in page.find("#legend").text
    y = torch.tensor(1.0, requires_grad=True)
    page = show(graph(y * 1e9 * 1e-20 + (y * 2 - 5).relu(), gradients=True))
    assert page.do("cy.edges('.vanishing').length") == 2
    assert page.do("cy.edges('.zero').length") >= 1
    page = show(graph(y * 1e9, gradients=True))
    assert page.do("cy.edges('.exploding').length") == 1


def test_a_large_graph_is_folded_first(show):
    page = show(graph(GPT(115), torch.arange(5)[None], gradients=True))
    assert page.do("data.vertices.length") > 5000
    assert page.do("cy.nodes().length") <= 100
    assert int(page.do("document.body.dataset.ready")) < 10_000  # 400 ms when nothing else runs
    assert page.find("#note").text == "Some layers are folded: click one to unfold it."
    chain = torch.ones(1, requires_grad=True)
    for _ in range(3000):
        chain = chain.exp()
    page = show(graph(chain))  # no layers are known: stretches of it are folded
    assert page.do("cy.nodes().length") <= 100
    page.press("/", "leaf", "\ue007")
    page.do(f"goTo({page.vertex('ExpBackward0', 1500)[1:]})")
    assert "ExpBackward0" in page.panel()


def test_light_and_dark(show):
    model, x = small()
    page = show(graph(model, x))
    before = page.do("[colour('paper'), cy.nodes('.operator').style('background-color')]")
    page.find("#theme").click()
    after = page.do("[colour('paper'), cy.nodes('.operator').style('background-color')]")
    assert {before[0], after[0]} == {"#ffffff", "#14181f"} and before[1] != after[1]


def test_words_of_the_program_cannot_end_the_page(show):
    x = torch.ones(1, requires_grad=True)
    name = "</script><script>alert(1)</script><b>&"
    page = show(graph(x.exp(), params={name: x}, title=name))
    assert page.browser.title == name
    page.do("select('v0')")
    assert page.panel().startswith(name)
