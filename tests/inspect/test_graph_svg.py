"""The graph as a still picture."""

from xml.etree import ElementTree

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph
from tapegrad.inspect.graph_svg import layered


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), torch.ones(2, 3)


SVG = "{http://www.w3.org/2000/svg}"


def rectangles(root):
    """Left, upper side, width and height of the boxes of a still picture, by the words in them."""
    found = {}
    for group in root.iter(SVG + "g"):
        box, words = group.find(SVG + "rect"), group.find(SVG + "text").text
        sides = [float(box.get(key)) for key in ("x", "y", "width", "height")]
        found.setdefault(words, []).append((*sides, box.get("class")))
    return found


def apart(boxes):
    return all(
        x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1
        for i, (x1, y1, w1, h1, _) in enumerate(boxes)
        for x2, y2, w2, h2, _ in boxes[:i]
    )


def test_the_still_picture_is_a_tree_of_xml_in_which_nothing_overlaps():
    model, x = small()
    drawn = graph(model, x, params={"<&>": model[0].weight})
    boxes = rectangles(ElementTree.fromstring(drawn.svg()))
    assert "<&>" in boxes
    found = [box for each in boxes.values() for box in each]
    assert len(found) == len(drawn.record.vertices) and apart(found)


def test_in_the_still_picture_parameters_stand_beside_what_flows_straight_down():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    boxes = rectangles(ElementTree.fromstring(graph(model, torch.ones(2, 3)).svg()))
    middle = [*boxes["AddmmBackward0"], *boxes["TanhBackward0"], *boxes["result"]]
    assert len({round(x + width / 2) for x, _, width, _, _ in middle}) == 1
    bias, product = boxes["2.bias"][0], sorted(boxes["AddmmBackward0"], key=lambda box: box[1])[1]
    assert 10 < product[1] - (bias[1] + bias[3]) < 40  # right above


def test_in_the_still_picture_a_leaf_with_many_users_stands_beside_each():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    for _ in range(5):
        y = y * x
    boxes = rectangles(ElementTree.fromstring(graph(y).svg()))
    assert [box[4] for box in boxes["x"]] == ["leaf copy"] * 6
    assert apart([box for each in boxes.values() for box in each])


def test_the_still_picture_names_what_stands_out():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    y = (x.sqrt() * torch.tensor([0.0, 1.0])).sum() + (x * 1e9).sum()
    root = ElementTree.fromstring(graph(y, gradients=True).svg())
    words = {t.text: t.get("class") for t in root.iter(SVG + "text") if t.get("class")}
    assert words["nan"] == "state nan" and words["exploding"] == "state exploding"
    heads = [p.get("marker-end") for p in root.iter(SVG + "path") if p.get("class") == "nan"]
    assert heads == ["url(#head-nan)"]


def test_layers_lie_below_their_inputs_and_a_chain_is_a_line():
    places, routes = layered([(10, 10)] * 4, [(0, 1), (1, 2), (0, 3), (2, 3)], gap=(10, 10))
    heights = [y for _, y in places]
    assert heights == sorted(heights) and len(set(heights)) == 4
    long = routes[2]
    assert len(long) == 4 and all(abs(x - places[1][0]) >= 10 for x, _ in long[1:3])
    chain, _ = layered([(10, 10)] * 3000, [(i, i + 1) for i in range(2999)])
    assert {x for x, _ in chain} == {5.0}
    shared = [(0, i) for i in range(1, 3000)] + [(i, i + 1) for i in range(1, 2999)]
    _, routes = layered([(10, 10)] * 3000, shared)
    assert max(map(len, routes)) <= 41
