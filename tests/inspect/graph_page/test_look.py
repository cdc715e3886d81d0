"""How the page of a graph looks: folding, sizes, colours, where things stand."""

from itertools import pairwise

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph
from tests.inspect.graph_models import GPT, small


def test_a_leaf_with_many_users_is_drawn_beside_each_of_them(show):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    for _ in range(5):
        y = y * x
    page = show(graph(y, gradients=True))
    assert page.labels().count("x") == 6 and page.do("cy.nodes('.copy').length") == 6
    assert page.do("cy.edges().length") == 12
    page.do("goTo(data.vertices.findIndex((v) => v.name === 'x'))")
    assert page.do("cy.nodes('.chosen').length") == 6
    page.press(*"\ue014" * 6)
    assert page.do("cy.edges('.carrying').map((e) => e.source().data('label'))") == ["x\n(2,)"]
    page.find("#last").click()
    assert "the same leaf again" in page.find("#legend").text
    overlaps = """(() => {
      const boxes = cy.nodes('.plain').map((n) => n.boundingBox({includeLabels: false}));
      return boxes.filter((a, i) => boxes.some((b, j) =>
        i < j && a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2)).length;
    })()"""
    assert page.do(overlaps) == 0


def test_what_flows_through_goes_straight_down_between_parameters(show):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    page = show(graph(model, torch.ones(2, 3)))
    page.find("#columns").click()  # one column
    for _ in range(2):
        across = page.do("cy.nodes('.operator').map((n) => [labelOf(n.id())[0], n.position().x])")
        middle = [x for name, x in across if name != "T"]
        assert len(middle) == 5 and max(middle) - min(middle) < 1
        page.find("#saved").click()


def test_a_folded_layer_tells_of_the_trouble_inside(show):
    class Root(nn.Module):
        def forward(self, x):
            return x.sqrt() * torch.tensor([0.0, 1.0])

    x = torch.tensor([0.0, 4.0], requires_grad=True)
    page = show(graph(nn.Sequential(Root(), nn.Tanh()), x, gradients=True))
    page.find("#fold").click()
    assert page.do("cy.nodes('.folded.nan').length") == 1
    assert page.do("cy.nodes('.folded').map((n) => n.data('label'))")[0].endswith("operators, nan")
    page.find("#panel button[data-edge]").click()  # what stands out leads to the edge
    assert page.panel().startswith("edge\nx (2,) → Sqrt (2,)") and "1 nan" in page.panel()
    assert page.do("cy.edges('.chosen.nan').length") == 1


def test_it_fits_small_windows(show):
    model, x = small()
    page = show(graph(model, x, gradients=True))
    for width, height in ((1280, 800), (800, 600), (400, 700)):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        page.until(f"window.innerWidth === {width} && window.innerHeight === {height}")
        assert page.do("document.documentElement.scrollWidth") == width
        assert page.do("document.documentElement.scrollHeight") == height
        if width < 700:  # the panel comes when something is chosen, the legend when it is opened
            page.do("(showAside(false), element('keys').open = false, 1)")
            assert not page.find("#panel").is_displayed()
            page.do("select('v0')")
            page.find("summary").click()
        for each in ("#canvas", "#panel", "#search", "#aside", "#last", "#legend"):
            box = page.find(each).rect
            assert box["width"] > 10 and box["x"] + box["width"] <= width, each
        assert page.find("#canvas").size["height"] > 150
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_words_can_be_read_on_their_ground(show):
    model, x = small()
    page = show(graph(model, x, gradients=True))
    page.find("#saved").click()
    grounds = {
        "ink": [
            "paper",
            "panel",
            "code",
            "operator",
            "parameter",
            "leaf",
            "result",
            "saved",
            "group",
        ],
        "dim": ["paper", "panel", "group"],
        "mark": ["panel"],
        "bad": ["paper", "panel"],
        "big": ["paper", "panel"],
        "small": ["paper", "panel"],
        "run": ["paper"],
    }
    for _ in range(2):
        for ink, papers in grounds.items():
            for paper in papers:
                names = page.do(f"[colour('{ink}'), colour('{paper}')]")
                assert contrast(*names) >= 4.5, (ink, paper)
        page.find("#theme").click()


def contrast(a, b):
    """The contrast of two colours, `#rrggbb`, as WCAG 2 counts it."""

    def light(name):
        parts = [int(name[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((light(a), light(b)))
    return (high + 0.05) / (low + 0.05)


def test_layers_fold_and_unfold(show):
    model, x = small()
    page = show(graph(model, x))
    assert sorted(page.labels()) == sorted(
        ["Addmm", "Addmm", "T", "T", "Tanh", "bias", "bias", "result", "weight", "weight"]
    )
    page.find("#fold").click()
    assert sorted(page.labels()) == ["result", "▸ Sequential"]
    page.at("g0").click().perform()
    assert sorted(page.labels()) == ["result", "▸ 0 Linear", "▸ 1 Tanh", "▸ 2 Linear"]
    page.at("g1").click().perform()
    assert {"T", "bias", "weight", "Addmm", "▸ 1 Tanh"} < set(page.labels())
    assert "operators 2" in page.panel() and "parameters 2" in page.panel()
    page.find("#panel button").click()
    assert sorted(page.labels()) == ["result", "▸ 0 Linear", "▸ 1 Tanh", "▸ 2 Linear"]
    page.at("tg0").click().perform()  # the bar with its name
    assert sorted(page.labels()) == ["result", "▸ Sequential"]
    page.find("#unfold").click()
    assert len(page.labels()) == 10
    page.find("#saved").click()
    assert len(page.labels()) == 14  # of what addmm, tanh and addmm keep


def test_a_large_graph_is_folded_first(show):
    page = show(graph(GPT(115), torch.arange(5)[None], gradients=True))
    assert page.do("data.vertices.length") > 5000
    assert page.do("cy.nodes('.plain').length") <= 100
    page.ready()
    assert page.find("#note").text == "Some layers are folded: click one to unfold it."
    chain = torch.ones(1, requires_grad=True)
    for _ in range(3000):
        chain = chain.exp()
    page = show(graph(chain))  # no layers are known: stretches of it are folded
    assert page.do("cy.nodes('.plain').length") <= 100
    page.press("/", "leaf", "\ue007")
    page.do(f"goTo({page.vertex('ExpBackward0', 1500)[1:]})")
    assert "ExpBackward0" in page.panel()


class Deep(nn.Module):
    """Convolutions before normalisations."""

    def __init__(self):
        super().__init__()
        sizes = [1, 4, 4, 4]
        self.body = nn.Sequential(
            *[
                each
                for a, b in pairwise(sizes)
                for each in (nn.Conv2d(a, b, 3), nn.BatchNorm2d(b), nn.ReLU())
            ]
        )

    def forward(self, x):
        return self.body(x).mean()


def test_a_tall_graph_is_set_in_columns_that_can_be_read(show):
    page = show(graph(Deep(), torch.ones(2, 1, 12, 12)))
    assert page.do("[level, deepest, cy.nodes('.open').length]") == [3, 3, 11]
    assert page.do("cy.zoom()") > 0.7
    inside = """cy.nodes('.plain').every((n) => {
      const b = n.renderedBoundingBox();
      return b.x1 >= 0 && b.y1 >= 0 && b.x2 <= cy.width() && b.y2 <= cy.height();
    })"""
    assert page.do(inside) and not page.find("#map").is_displayed()
    overlaps = """(() => {
      const boxes = cy.nodes('.plain').map((n) => n.boundingBox({includeLabels: false}));
      return boxes.filter((a, i) => boxes.some((b, j) =>
        i < j && a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2)).length;
    })()"""
    assert page.do(overlaps) == 0
    in_columns = page.do("cy.zoom()")
    page.find("#columns").click()
    page.press("f")
    assert page.do("cy.zoom()") < in_columns / 1.5 and page.do(overlaps) == 0


def test_levels_open_blocks_alike_and_one_kind_at_a_time(show):
    page = show(graph(GPT(6), torch.arange(5)[None]))
    blocks = "data.groups.flatMap((g, i) => g.kind === 'Block' ? [open.has(i)] : [])"
    for _ in range(4):
        assert len(set(page.do(blocks))) == 1
        page.find("#more").click()
    assert page.find("#level").text == "4 of 4" and not page.find("#more").is_enabled()
    page.find("#fold").click()
    assert page.find("#level").text == "0 of 4" and len(page.labels()) == 2
    page.do("select('g' + data.groups.findIndex((g) => g.kind === 'Attention'))")
    page.find("#panel button[data-kind]").click()
    kinds = page.do("data.groups.flatMap((g, i) => open.has(i) ? [g.kind] : [])")
    assert sorted(kinds) == ["Attention"] * 6 + ["Block"] * 6 + ["GPT"]
    page.find("#panel button[data-kind]").click()
    assert "Attention" not in page.do("data.groups.flatMap((g, i) => open.has(i) ? [g.kind] : [])")


def test_the_small_map_shows_the_window_and_leads_elsewhere(show):
    page = show(graph(GPT(6), torch.arange(5)[None]))
    page.find("#unfold").click()
    map_ = page.find("#map")
    assert map_.is_displayed()
    before = page.do("cy.extent().x1")
    from selenium.webdriver import ActionChains

    ActionChains(page.browser).move_to_element_with_offset(map_, 40, 30).click().perform()
    assert page.do("cy.extent().x1") > before
    page.press("f")
    assert not map_.is_displayed()


def test_the_drawing_is_saved_as_svg_and_png(show):
    from xml.etree import ElementTree

    model, x = small()
    page = show(graph(model, x, gradients=True))
    page.do("(window.saved = {}, download = (blob, ending) => { saved[ending] = blob; }, 1)")
    page.find("#svg").click()
    page.find("#png").click()
    page.do("(saved.svg.text().then((text) => { window.drawn = text; }), 1)")
    page.until("window.drawn")
    root = ElementTree.fromstring(page.do("drawn"))
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words.count("Addmm") == 2 and "result" in words and "▾ Sequential" in words
    left, upper, width, _height = map(float, root.get("viewBox").split())
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert left <= float(box.get("x")) and float(box.get("y")) >= upper
        assert float(box.get("x")) + float(box.get("width")) <= left + width + 0.1
    page.do("(createImageBitmap(saved.png).then((image) => { window.side = image.width; }), 1)")
    page.until("window.side > 300")


def test_light_and_dark(show):
    model, x = small()
    page = show(graph(model, x))
    before = page.do("[colour('paper'), cy.nodes('.operator').style('background-color')]")
    page.find("#theme").click()
    after = page.do("[colour('paper'), cy.nodes('.operator').style('background-color')]")
    assert {before[0], after[0]} == {"#ffffff", "#14181f"} and before[1] != after[1]


def test_the_mouse_moves_zooms_and_folds(show):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    model, x = small()
    page = show(graph(model, x))
    pan, zoom = page.do("[cy.pan(), cy.zoom()]")
    canvas = page.find("#canvas")
    left, upper = -canvas.size["width"] // 2 + 20, -canvas.size["height"] // 2 + 20
    chain = ActionChains(page.browser).move_to_element_with_offset(canvas, left, upper)
    chain.click_and_hold()
    for _ in range(4):
        chain.move_by_offset(15, 8)
    chain.release().perform()
    moved = page.do("cy.pan()")
    assert (moved["x"] - pan["x"], moved["y"] - pan["y"]) == pytest.approx((60, 32), abs=2)
    origin = ScrollOrigin.from_element(canvas)
    ActionChains(page.browser).scroll_from_origin(origin, 0, -200).perform()
    page.until(f"cy.zoom() > {zoom}")
    page.press("f")
    page.do("cy.multiClickDebounceTime(1e6) && 1")  # two clicks are a double one, late as they come
    box = page.do("cy.getElementById('g1').renderedBoundingBox({includeLabels: false})")
    x, y = box["x1"] + 6 - canvas.size["width"] / 2, box["y2"] - 6 - canvas.size["height"] / 2
    ActionChains(page.browser).move_to_element_with_offset(
        canvas, round(x), round(y)
    ).double_click().perform()
    page.until("cy.getElementById('g1').hasClass('folded')")
    assert "▸ 0 Linear" in page.labels()
