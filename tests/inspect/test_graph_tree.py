"""The text tree of a tensor's graph."""

import pytest

import tapegrad as torch
from tapegrad.inspect.graph_tree import graph_text


def lines(*texts):
    return "\n".join(texts)


def test_a_chain_is_a_column():
    x = torch.ones(2, requires_grad=True)
    assert graph_text(x.exp().sum()) == lines("SumBackward0", "ExpBackward0", "AccumulateGrad (2,)")


def test_inputs_are_branches_and_those_without_gradient_are_left_out():
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, 2, requires_grad=True)
    z = x.exp() * torch.ones(2) + y.tanh()
    assert graph_text(z) == lines(
        "AddBackward0",
        "├─ MulBackward0",
        "│  ExpBackward0",
        "│  AccumulateGrad (2,)",
        "└─ TanhBackward0",
        "   AccumulateGrad (2, 2)",
    )


def test_leaves_are_named_by_the_parameters_of_a_model():
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    y = model(torch.ones(4, 3))
    assert graph_text(y, params=dict(model.named_parameters())) == lines(
        "AddmmBackward0",
        "├─ AccumulateGrad 2.bias (1,)",
        "├─ ReluBackward0",
        "│  AddmmBackward0",
        "│  ├─ AccumulateGrad 0.bias (2,)",
        "│  └─ TBackward0",
        "│     AccumulateGrad 0.weight (2, 3)",
        "└─ TBackward0",
        "   AccumulateGrad 2.weight (1, 2)",
    )


def test_a_node_with_several_users_is_drawn_once_and_pointed_back_to():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    assert graph_text(y * y + x, params={"x": x}) == lines(
        "AddBackward0",
        "├─ MulBackward0",
        "│  ├─ ExpBackward0 #1",
        "│  │  AccumulateGrad x (3,) #2",
        "│  └─ ↑ ExpBackward0 #1",
        "└─ ↑ AccumulateGrad #2",
    )


def test_the_output_of_a_node_with_several_is_named_after_the_first():
    x = torch.ones(4, requires_grad=True)
    a, b = x.split(2)
    assert graph_text(b * a) == lines(
        "MulBackward0",
        "├─ SplitBackward0 #1, output 1",
        "│  AccumulateGrad (4,)",
        "└─ ↑ SplitBackward0 #1",
    )


def test_a_node_is_drawn_like_the_tensor_it_made():
    y = torch.ones(3, requires_grad=True).exp().sum()
    assert graph_text(y.grad_fn) == graph_text(y)


def test_a_leaf_is_its_own_graph():
    x = torch.ones(3, requires_grad=True)
    assert graph_text(x, params={"x": x}) == "AccumulateGrad x (3,)"


def test_a_tensor_that_does_not_require_grad_has_no_graph():
    with pytest.raises(ValueError, match="the tensor has no graph: it does not require grad"):
        graph_text(torch.ones(3))


def test_a_large_graph_is_cut_and_says_how_much_is_missing():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(5):
        y = y.exp()
    expected = lines("ExpBackward0", "ExpBackward0", "… and 4 more")
    assert graph_text(y, max_nodes=2) == expected
    assert graph_text(y, max_nodes=6) == graph_text(y, max_nodes=None)


def test_depth_is_no_limit():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y.exp()
    text = graph_text(y, max_nodes=None)
    assert text == "ExpBackward0\n" * 20_000 + "AccumulateGrad (1,)"
