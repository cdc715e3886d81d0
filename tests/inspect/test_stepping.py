"""A backward pass node by node."""

import io
import pdb

import pytest

import tapegrad as torch
from tapegrad.inspect import step, watch


def small():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())
    x = torch.randn(4, 3)
    return model, x


def test_walking_it_gives_the_gradients_of_backward():
    model, x = small()
    names = [each.name for each in step(model(x).pow(2).sum())]
    assert names == [
        "SumBackward0",
        "PowBackward0",
        "TanhBackward0",
        "AddmmBackward0",
        "TBackward0",
        "AccumulateGrad",
        "AccumulateGrad",
    ]
    walked = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).pow(2).sum().backward()
    assert all(torch.equal(a, p.grad) for a, p in zip(walked, model.parameters(), strict=True))


def test_a_step_shows_what_came_was_kept_and_went():
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0, 4.0], requires_grad=True)
    walk = step(a * b, torch.tensor([1.0, 10.0]))
    first = walk.next()
    assert first.received[0].tolist() == [1.0, 10.0]
    assert {name: value.tolist() for name, value in first.kept.items()} == {
        "other": [3.0, 4.0],
        "input": [1.0, 2.0],
    }
    assert [(name, g.tolist()) for name, _, g in first.sent] == [
        ("input", [3.0, 40.0]),
        ("other", [1.0, 20.0]),
    ]
    assert "def MulBackward0(node, g, retain):" in first.source()
    assert a.grad is None
    (last,) = (walk.next(), walk.next())[1:]
    assert b.grad.tolist() == last.sent[0][2].tolist() == [1.0, 20.0]


def test_run_stops_before_a_node_a_layer_or_a_condition():
    model, x = small()
    with watch():
        loss = model(x).pow(2).sum()
    walk = step(loss, retain_graph=True)
    assert walk.run(until="tanh").name == "TanhBackward0"
    assert walk.run(until="Sequential.0").module == "Sequential.0"
    assert walk.run(until=lambda each: each.name == "AccumulateGrad").number == 5
    assert walk.run() is None and walk.upcoming is None
    assert step(loss, retain_graph=True).run(until=model[1]).name == "TanhBackward0"
    node = loss.grad_fn.next_functions[0][0]
    assert step(loss).run(until=node).node is node
    with pytest.raises(TypeError, match="until must be a name"):
        walk.run(until=3)


def test_lines_and_layers_are_known_inside_watch():
    model, x = small()
    with watch():
        loss = model(x).sum()  # this line
    found = step(loss).run(until="addmm")
    assert found.file == __file__ and found.module == "Sequential.0"
    with open(__file__) as file:
        assert "# this line" in file.read().splitlines()[found.line - 1]


def test_the_end_and_a_failure_are_errors_that_say_so():
    x = torch.ones(2, requires_grad=True)
    walk = step((x * 2).sum())
    walk.run()
    with pytest.raises(RuntimeError, match="the backward pass has ended"):
        walk.next()
    y = x.exp()
    y.add_(1)
    walk = step(y.sum())
    walk.next()
    walk.next()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        walk.next()
    with pytest.raises(RuntimeError, match="ended with an error"):
        walk.next()
    assert x.grad.tolist() == [2.0, 2.0]


def test_what_was_kept_is_freed_as_in_backward():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    step(y, retain_graph=True).run()
    step(y).run()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        step(y).run()


def test_several_roots_and_outputs_and_hooks():
    x = torch.arange(4.0).requires_grad_()
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.tolist()))
    seen: list = []
    a, b = x.split(2)
    list(step([(a * 3).sum(), b.prod()]))
    assert seen == [[3.0, 3.0, 3.0, 2.0]]


def test_recorded_steps_give_second_derivatives():
    x = torch.tensor(3.0, requires_grad=True)
    step(x**3, create_graph=True).run()
    assert x.grad.item() == 27.0
    (second,) = torch.autograd.grad(x.grad, x)
    x.grad = None
    assert second.item() == 18.0


def test_gradients_that_were_shown_stay_as_they_were():
    x = torch.ones(2, requires_grad=True)
    steps = list(step((x * 2 + x * 3 + x * 4).sum()))
    received = [each.received[0].tolist() for each in steps if each.name == "MulBackward0"]
    assert received == [[1.0, 1.0]] * 3


def test_the_debugger_stops_in_a_rule():
    x = torch.ones(2, requires_grad=True)
    walk = step((x * 3).tanh().sum())
    rule = walk.run(until="tanh").rules["x"]
    place = f"{rule.__code__.co_filename}:{rule.__code__.co_firstlineno}"
    said = io.StringIO()
    commands = io.StringIO(f"break {place}\ncontinue\np g.tolist()\ncontinue\n")
    debugger = pdb.Pdb(stdin=commands, stdout=said, nosigint=True)
    debugger.use_rawinput = False
    debugger.runcall(walk.next)
    assert "@vjp(x=lambda g, y" in said.getvalue()  # the line of the rule, where it stands
    assert "(Pdb) [1.0, 1.0]" in said.getvalue()


def test_the_same_until_goes_on_to_the_next_node():
    x = torch.ones(2, requires_grad=True)
    loss = (x.tanh() * x.tanh()).sum()
    walk = step(loss)
    numbers = []
    while walk.run(until="tanh"):
        numbers.append(walk.upcoming.number)
    assert len(numbers) == 2 and walk.upcoming is None
    assert numbers[0] < numbers[1]


def test_a_debugger_stands_in_what_runs_a_node():
    x = torch.ones(2, requires_grad=True)
    walk = step((x * 3).tanh().sum())
    walk.run(until="tanh")
    said = io.StringIO()
    debugger = pdb.Pdb(
        stdin=io.StringIO("p node.name()\nuntil 7\nstep\nstep\np g.tolist()\ncontinue\n"),
        stdout=said,
        nosigint=True,
    )
    debugger.use_rawinput = False
    assert walk.debug(debugger).name == "TanhBackward0"
    assert "-> y = node.saved_0" in said.getvalue()
    assert "@vjp(x=lambda g, y" in said.getvalue() and "(Pdb) [1.0, 1.0]" in said.getvalue()
    assert walk.upcoming.name == "MulBackward0"


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        doubled = 2 * g
        return doubled


def test_a_debugger_stands_in_the_backward_of_a_custom_function():
    x = torch.ones(2, requires_grad=True)
    walk = step(Double.apply(x).sum())
    before = walk.run(until="double")
    assert before.rules == {"backward": Double.backward}
    assert "doubled = 2 * g" in before.source()
    said = io.StringIO()
    debugger = pdb.Pdb(stdin=io.StringIO("next\np doubled\nc\n"), stdout=said, nosigint=True)
    debugger.use_rawinput = False
    walk.debug(debugger)
    assert "(Pdb) tensor([2., 2.])" in said.getvalue()


def test_a_write_into_a_view_shows_the_operator_that_wrote():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y[0].mul_(5)
    before = step(y.sum()).run(until="CopySlices")
    assert before.kept == {"other": 5}
    assert list(before.rules) == ["input"]
    assert before.source().startswith("def MulBackward0(node, g, retain):")


def test_what_hooks_packed_is_shown_as_it_was_packed():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: ("packed", t.tolist()), torch.tensor):
        y, z = x.exp(), Double.apply(x)
    assert step(y.sum()).run(until="exp").kept["y"][0] == "packed"
    assert step(z.sum()).run(until="double").kept["saved_tensors[0]"] == ("packed", [1.0, 1.0])


def test_inputs_are_those_of_backward():
    x = torch.ones(2, requires_grad=True)
    w = torch.full((2,), 3.0, requires_grad=True)
    hidden = x * 2
    names = [each.name for each in step((hidden * w).sum(), inputs=[hidden])]
    assert names == ["SumBackward0", "MulBackward0", "MulBackward0"]  # the last takes what came
    assert hidden.grad.tolist() == [3.0, 3.0]
    assert x.grad is None and w.grad is None


def test_a_notebook_shows_a_table():
    x = torch.ones(2, requires_grad=True)
    walk = step((x * 3).sum())
    for page in (walk._repr_html_(), walk.next()._repr_html_()):
        assert "0  SumBackward0" in page and "<td" in page and "[2] float32, not its values" in page
    walk.run()
    assert "at the end, after 3 nodes" in walk._repr_html_()
