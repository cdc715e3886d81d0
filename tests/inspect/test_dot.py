"""`make_dot`, and what Graphviz makes of it and of `Graph.dot`."""

import json
import re
import subprocess

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.inspect import graph, make_dot
from tests import needs
from tests.command import python


def drawn_by(dot):
    """Labels and colours of the nodes, and the edges between labels."""
    nodes = {}
    edges = []
    for line in dot.body:
        found = re.fullmatch(r'(\d+) \[label="?(.*?)"?(?: fillcolor=(\w+))?\]', line, re.S)
        if found:
            nodes[found[1]] = (found[2], found[3])
        else:
            a, b, style = re.fullmatch(r"(\d+) -> (\d+)(?: \[(.*)\])?", line).groups()
            edges.append((a, b, style))
    return sorted(nodes.values(), key=lambda n: n[0]), [
        (nodes[a][0], nodes[b][0], s) for a, b, s in edges
    ]


def test_make_dot_draws_what_torchviz_draws():
    w = torch.ones(2, 3, requires_grad=True)
    nodes, edges = drawn_by(make_dot((w.exp() * 2).sum(), params={"w": w}))
    assert nodes == [
        ("\n ()", "darkolivegreen1"),
        ("AccumulateGrad", None),
        ("ExpBackward0", None),
        ("MulBackward0", None),
        ("SumBackward0", None),
        ("w\n (2, 3)", "lightblue"),
    ]
    assert edges == [
        ("MulBackward0", "SumBackward0", None),
        ("ExpBackward0", "MulBackward0", None),
        ("AccumulateGrad", "ExpBackward0", None),
        ("w\n (2, 3)", "AccumulateGrad", None),
        ("SumBackward0", "\n ()", None),
    ]


def test_make_dot_shows_what_is_kept_and_the_base_of_a_view():
    w = torch.ones(2, 3, requires_grad=True)
    nodes, edges = drawn_by(make_dot(w.tanh(), show_saved=True))
    assert ("result\n (2, 3)", "orange") in nodes
    assert ("TanhBackward0", "result\n (2, 3)", "dir=none") in edges
    nodes, edges = drawn_by(make_dot(w.exp().view(6)))
    assert ("\n (2, 3)", "darkolivegreen3") in nodes
    assert ("\n (2, 3)", "\n (6)", "style=dotted") in edges
    nodes, _ = drawn_by(make_dot(w.pow(3), show_attrs=True))
    label = (
        "PowBackward0\n------------------------\nexponent:              3\nself    : [saved tensor]"
    )
    assert label in [text for text, _ in nodes]


def test_make_dot_takes_tensors_in_lists_too_and_nothing_else():
    x = torch.ones(2, requires_grad=True)
    a, b = x.exp(), x.sin()
    assert make_dot([a, b]).source == make_dot((a, b)).source
    with pytest.raises(TypeError, match="make_dot\\(\\) takes tensors, not NoneType"):
        make_dot(None)


def test_torchviz_is_served(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nfrom torchviz import make_dot\n"
        "x = torch.ones(2, requires_grad=True)\nprint(make_dot(x.exp()).source.splitlines()[0])\n"
        "make_dot(x.exp()).save('graph.gv')\n"
    )
    result = python("-m", "tapegrad", "run", script, cwd=tmp_path)
    assert (result.stdout, result.stderr) == ("digraph {\n", "")
    assert (tmp_path / "graph.gv").read_text().startswith("digraph {")


def numbered(dot):
    """The source with small numbers for the nodes, in the order in which they come."""
    names = {}
    return re.sub(r"\b\d{9,}\b", lambda m: f"n{names.setdefault(m[0], len(names))}", dot.source)


# torchviz's own example, by torchviz 0.0.3 on PyTorch 2.13.
TORCHVIZ = """\
digraph {
	graph [size="12,12"]
	node [align=left fontname=monospace fontsize=10 height=0.2 ranksep=0.1 shape=box style=filled]
	n0 [label="
 (1, 1)" fillcolor=darkolivegreen1]
	n1 -> n2 [dir=none]
	n2 [label="mat1
 (1, 16)" fillcolor=orange]
	n1 -> n3 [dir=none]
	n3 [label="mat2
 (16, 1)" fillcolor=orange]
	n1 [label="AddmmBackward0
--------------------------------
alpha           :              1
beta            :              1
mat1            : [saved tensor]
mat1_sym_sizes  :        (1, 16)
mat1_sym_strides:        (16, 1)
mat2            : [saved tensor]
mat2_sym_sizes  :        (16, 1)
mat2_sym_strides:        (1, 16)"]
	n4 -> n1
	n5 [label="W1.bias
 (1)" fillcolor=lightblue]
	n5 -> n4
	n4 [label=AccumulateGrad]
	n6 -> n1
	n6 -> n7 [dir=none]
	n7 [label="result
 (1, 16)" fillcolor=orange]
	n6 [label="TanhBackward0
----------------------
result: [saved tensor]"]
	n8 -> n6
	n8 -> n9 [dir=none]
	n9 [label="mat1
 (1, 8)" fillcolor=orange]
	n8 -> n10 [dir=none]
	n10 [label="mat2
 (8, 16)" fillcolor=orange]
	n8 [label="AddmmBackward0
--------------------------------
alpha           :              1
beta            :              1
mat1            : [saved tensor]
mat1_sym_sizes  :         (1, 8)
mat1_sym_strides:         (8, 1)
mat2            : [saved tensor]
mat2_sym_sizes  :        (8, 16)
mat2_sym_strides:         (1, 8)"]
	n11 -> n8
	n12 [label="W0.bias
 (16)" fillcolor=lightblue]
	n12 -> n11
	n11 [label=AccumulateGrad]
	n13 -> n8
	n9 [label="x
 (1, 8)" fillcolor=lightblue]
	n9 -> n13
	n13 [label=AccumulateGrad]
	n14 -> n8
	n14 [label=TBackward0]
	n15 -> n14
	n16 [label="W0.weight
 (16, 8)" fillcolor=lightblue]
	n16 -> n15
	n15 [label=AccumulateGrad]
	n17 -> n1
	n17 [label=TBackward0]
	n18 -> n17
	n19 [label="W1.weight
 (1, 16)" fillcolor=lightblue]
	n19 -> n18
	n18 [label=AccumulateGrad]
	n1 -> n0
}
"""


def test_the_example_of_torchviz_is_drawn_to_the_letter():
    model = nn.Sequential()
    model.add_module("W0", nn.Linear(8, 16))
    model.add_module("tanh", nn.Tanh())
    model.add_module("W1", nn.Linear(16, 1))
    x = torch.zeros(1, 8, requires_grad=True)
    params = {**dict(model.named_parameters()), "x": x}
    dot = make_dot(model(x), params=params, show_attrs=True, show_saved=True)
    assert numbered(dot) == TORCHVIZ


def attributes(y):
    """What `show_attrs` writes below the name of the node that made `y`."""
    (label,) = re.findall(
        r'\[label="(\w+\n-+\n.*?)"\]', "\n".join(make_dot(y, show_attrs=True).body), re.S
    )
    return dict(re.split(r"\s*:\s*", line, maxsplit=1) for line in label.split("\n")[2:])


def test_attributes_have_the_names_and_values_of_those_of_pytorch():
    x = torch.rand(2, 3, requires_grad=True)
    kept = "[saved tensor]"
    cases = {
        "mul": (x * 2, {"other": kept, "self": "None"}),
        "sum": (x.sum(1), {"dim": "(1,)", "keepdim": "False", "self_sym_sizes": "(2, 3)"}),
        "mean": (x.mean(), {"self_sym_numel": "6", "self_sym_sizes": "(2, 3)"}),
        "softmax": (x.softmax(1), {"dim": "1", "result": kept}),
        "transpose": (x.transpose(0, 1), {"dim0": "0", "dim1": "1"}),
        "add": (x + x, {"alpha": "1"}),
        "clamp": (x.clamp(0, 1), {"max": "1", "min": "0", "self": kept}),
        "hardtanh": (
            nn.functional.hardtanh(x),
            {"max_val": "1.0", "min_val": "-1.0", "self": kept},
        ),
        "slice": (
            x[:, 1:3],
            {"dim": "1", "end": "3", "self_sym_sizes": "(2, 3)", "start": "1", "step": "1"},
        ),
        "std": (
            x.std(1),
            {"correction": "1", "dim": "(1,)", "keepdim": "False", "result": kept, "self": kept},
        ),
        "loss": (
            nn.functional.mse_loss(x, torch.ones(2, 3)),
            {"reduction": "1", "self": kept, "target": kept},
        ),
    }
    for name, (y, expected) in cases.items():
        assert attributes(y) == expected, name
    image = torch.ones(1, 2, 6, 6, requires_grad=True)
    pooled = attributes(nn.functional.max_pool2d(image, 3, stride=2, padding=1))
    assert pooled == {
        "dilation": "(1, 1)", "kernel_size": "(3, 3)", "padding": "(1, 1)", "result1": kept,
        "self": "None", "stride": "(2, 2)",
    }  # fmt: skip


def test_a_tensor_that_two_nodes_keep_is_drawn_once():
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    nodes, edges = drawn_by(make_dot(y * y, show_saved=True))
    assert [text for text, colour in nodes if colour == "orange"] == ["other\n ()", "self\n (2)"]
    assert len([edge for edge in edges if edge[2] == "dir=none"]) == 3


def laid_out(source):
    """What Graphviz makes of a source: nodes, edges and clusters."""
    program = needs.program("dot", "install Graphviz, which lays the source out")
    done = subprocess.run([program, "-Tjson"], input=source, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    drawn = json.loads(done.stdout)
    clusters = [each for each in drawn["objects"] if each["name"].startswith("cluster")]
    nodes = [each for each in drawn["objects"] if each not in clusters and "pos" in each]
    return nodes, drawn["edges"], clusters


def test_graphviz_draws_both():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    model[0].weight.data[0, 0] = float("nan")
    drawn = graph(model, torch.ones(2, 3), params={'"a\\b"': model[0].weight}, gradients=True)
    nodes, edges, clusters = laid_out(drawn.dot(saved=True))
    n_kept = sum(k.is_tensor for v in drawn.record.vertices for k in v.kept)
    assert n_kept == 4
    assert len(nodes) == len(drawn.record.vertices) + n_kept
    assert len(edges) == len(drawn.record.edges) + n_kept
    assert [each["label"] for each in clusters] == ["Sequential", "0 Linear", "1 Tanh", "2 Linear"]
    assert '"a\\b"' in [each["_ldraw_"][2]["text"] for each in nodes]
    assert {each["color"] for each in edges if each.get("label") == "nan"} == {"#c2168f"}
    y = model(torch.ones(2, 3))
    dot = make_dot(y, dict(model.named_parameters()), show_attrs=True, show_saved=True)
    nodes, edges, _ = laid_out(dot.source)
    assert len(nodes) == len([line for line in dot.body if " -> " not in line])
    assert len(edges) == len([line for line in dot.body if " -> " in line])
    assert {each.get("fillcolor") for each in nodes} == {
        None, "lightblue", "orange", "darkolivegreen1",
    }  # fmt: skip


def test_the_package_graphviz_renders_it(tmp_path):
    needs.package("graphviz", "renders the source")
    needs.program("dot", "install Graphviz, which lays the source out")
    dot = make_dot(torch.ones(2, requires_grad=True).exp())
    assert dot.pipe("svg").startswith(b"<?xml")
    dot.render("picture", tmp_path, format="png", cleanup=True)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
