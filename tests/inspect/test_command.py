"""`tapegrad graph` and `tapegrad explain`."""

import pytest

from tests.command import python

SCRIPT = """
import sys, torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
unused = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = (model(torch.ones(2, 3)) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
print(sys.argv[1:])
"""


@pytest.fixture
def run(tmp_path):
    def run_(command, *words, source=SCRIPT):
        (tmp_path / "script.py").write_text(source)
        return python("-m", "tapegrad", command, "script.py", *words, cwd=tmp_path)

    return run_


def test_graph_writes_the_page_of_a_variable_and_the_gradients_of_its_pass(run, tmp_path):
    result = run("graph", "--of", "loss", "-o", "picture.html", "--", "one", "--of")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "['one', '--of']\npicture.html: the graph of loss, 8 operators\n"
    page = (tmp_path / "picture.html").read_text()
    assert '"model.0.weight"' in page and '"bins":[' in page
    assert "loss = (model(torch.ones(2, 3)) - 1).pow(2).mean()" in page
    assert "<title>loss of script.py</title>" in page


def test_graph_says_what_it_cannot_do(run, tmp_path):
    result = run("graph", "--of", "lose")
    assert result.returncode == 1
    assert result.stderr == ("tapegrad: the script has no 'lose'; its tensors are unused, loss\n")
    result = run("graph", "--of", "model")
    assert result.stderr == "tapegrad: 'model' is no tensor but Sequential\n"
    result = run("graph", "-o", "graph.png")
    assert result.returncode == 1 and "cannot tell from 'graph.png'" in result.stderr
    result = python("-m", "tapegrad", "graph", "absent.py", cwd=tmp_path)
    assert result.returncode == 2 and "can't open file" in result.stderr
    result = run("graph", source="1 / 0")
    assert result.returncode == 1 and result.stderr.endswith(
        "ZeroDivisionError: division by zero\n"
    )


def test_a_script_that_exits_is_drawn_with_its_status(run, tmp_path):
    result = run("graph", "-o", "graph.txt", source=SCRIPT + "raise SystemExit(3)")
    assert result.returncode == 3
    assert (tmp_path / "graph.txt").read_text().startswith("MeanBackward0 () float32  ")


def test_explain_tells_of_every_leaf_that_has_no_gradient(run):
    result = run("explain")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[:4] == [
        "[]",
        "unused",
        "  This is a leaf that requires grad: [2] float32.",
        "  Its .grad is None: no backward pass has reached it.",
    ]
    lines = result.stdout.splitlines()[4:]
    assert lines[0] == "  No operator has used it inside watch(): is its layer called?"
    assert "began at MeanBackward0 at " in lines[1] and "not computed from it" in lines[1]
    assert len(lines) == 2


def test_explain_tells_of_the_tensors_that_are_named(run):
    result = run("explain", "--of", "model.0.bias", "--of", "loss")
    lines = result.stdout.splitlines()
    assert lines[1:3] == ["model.0.bias", "  This is a leaf that requires grad: [4] float32."]
    assert lines[4] == "loss" and "This was made by MeanBackward0 at " in lines[5]
    result = run("explain", "--of", "model.9.bias")
    assert result.returncode == 1
    assert result.stderr.startswith("tapegrad: the script has no 'model.9.bias'; its tensors")


def test_explain_is_content_when_all_is_well(run):
    result = run("explain", source=SCRIPT.replace("unused", "# unused"))
    assert result.stdout.splitlines()[1:] == [
        "Every leaf that requires grad has a gradient that is finite and not zero."
    ]


IN_FUNCTIONS = """
import torch
def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.ones(2, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
def main():
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    unused = torch.ones(2, requires_grad=True)
    train(net)
if __name__ == "__main__":
    main()
"""


def test_variables_of_functions_count_where_the_script_has_none_of_the_name(run, tmp_path):
    result = run("graph", source=IN_FUNCTIONS)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "graph.html: the graph of loss, 4 operators\n"
    page = (tmp_path / "graph.html").read_text()
    assert '"weight"' in page and '"bins":[' in page
    assert run("explain", source=IN_FUNCTIONS).stdout.splitlines()[0] == "unused"
    source = IN_FUNCTIONS + "loss = torch.ones(1, requires_grad=True).exp().sum()"
    assert run("graph", source=source).stdout.endswith("the graph of loss, 2 operators\n")
    result = run("explain", source="print(1)")
    assert result.stdout.splitlines()[1].startswith("No variable of the script is a leaf")


def test_explain_tells_of_gradients_that_are_not_finite(run):
    source = "import torch; w = torch.zeros(2, requires_grad=True); (w.sqrt() * 0).sum().backward()"
    lines = run("explain", source=source).stdout.splitlines()
    assert lines[2] == "  Its .grad is [2] float32, 2 nan."
    assert lines[3].startswith(
        "  The first nan of that backward pass was made by SqrtBackward0 at "
    )
