"""What a double backward records: the nodes that PyTorch's does, with the same edges."""

import pytest

import tapegrad as torch
from tapegrad import nn

F = nn.functional


def tree(node, seen):
    """The names of a graph, as text; a node that was there already by its number."""
    if node is None:
        return "-"
    if node in seen:
        return f"#{seen[node]}"
    seen[node] = len(seen)
    name = node.name().replace("torch::autograd::", "").replace("AccumulateGrad", "leaf")
    name = name.replace("Backward0", "").replace("Backward", "~")
    below = [tree(f, seen) + (f"@{i}" if i else "") for f, i in node.next_functions]
    return f"{name}({', '.join(below)})" if below else name


# PyTorch 2.13's graphs of the gradient
CALLS = {
    "sum(0)": (lambda x: x.sum(0), "Expand(Unsqueeze(leaf))"),
    "sum((0, 1))": (lambda x: x.sum((0, 1)), "Expand(Unsqueeze(Unsqueeze(leaf)))"),
    "t": (lambda x: x.t(), "T(leaf)"),
    "transpose": (lambda x: x.transpose(0, 1), "Transpose(leaf)"),
    "unsqueeze": (lambda x: x.unsqueeze(0), "Squeeze~1(leaf)"),
    "squeeze": (lambda x: x[:1].squeeze(), "Slice~(Unsqueeze(leaf))"),
    "expand": (lambda x: x.expand(2, 2, 3), "View(Sum~1(leaf))"),
    "mm": (lambda x: x @ torch.ones(3, 2), "Mm(leaf, -)"),
    "mv": (lambda x: torch.mv(x, torch.ones(3)), "Mul(View(leaf), -)"),
    "softmax": (lambda x: x.softmax(1), "Softmax~Data(leaf, Softmax(leaf))"),
    "log_softmax": (lambda x: x.log_softmax(1), "LogSoftmax~Data(leaf, LogSoftmax(leaf))"),
    "mse_loss": (lambda x: F.mse_loss(x, torch.zeros(2, 3)), "MseLoss~(leaf, leaf, -)"),
    "pow": (lambda x: x**3, "Mul(leaf, Mul~1(Pow(leaf)))"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_graph_of_a_gradient_has_the_nodes_of_pytorchs(name):
    function, expected = CALLS[name]
    x = torch.ones(2, 3, requires_grad=True)
    y = function(x)
    c = torch.ones_like(y).detach().requires_grad_()
    (g,) = torch.autograd.grad(y, x, c, create_graph=True)
    assert tree(g.grad_fn, {}) == expected


def test_the_gradients_of_a_network_have_the_nodes_of_pytorchs():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1))
    loss = model(torch.randn(3, 4)).mean()
    first, bias, last, end = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
    hidden = "Tanh(Addmm(leaf, -, T(leaf)))"
    slope = f"Tanh~(Mm(-, T(T(leaf))), {hidden})"
    assert tree(first.grad_fn, {}) == f"T(T(Mm(T({slope}), -)))"
    assert tree(bias.grad_fn, {}) == f"View(Sum~1({slope}))"
    assert tree(last.grad_fn, {}) == f"T(T(Mm(-, {hidden})))"
    assert not end.requires_grad


def test_the_gradient_of_cross_entropy_is_two_nodes():
    x = torch.randn(3, 4, requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([0, 1, 2]))
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    assert tree(g.grad_fn, {}) == "LogSoftmax~Data(NllLoss~(-, LogSoftmax(leaf)), #2)"


def test_cells_split_their_gates_as_pytorch_does():
    h, _ = nn.LSTMCell(3, 4)(torch.ones(2, 3))
    assert "UnsafeSplit(Add(Addmm(leaf, -, T(leaf)), Addmm(leaf, -, T(leaf))))@3" in tree(
        h.grad_fn, {}
    )


def test_the_gradients_of_a_convolution_have_edges_to_cotangent_input_and_weight():
    x = torch.randn(2, 3, 5, 5, requires_grad=True)
    layer = nn.Conv2d(3, 4, 3)
    found = torch.autograd.grad(layer(x).pow(2).sum(), [x, *layer.parameters()], create_graph=True)
    slope = "Mul(-, Mul~1(Pow(Convolution(leaf, leaf, leaf))))"
    for g in found:
        assert tree(g.grad_fn, {}) == f"Convolution~({slope}, #5, #6)"


def test_what_nodes_of_products_keep_has_pytorchs_names():
    x = torch.arange(2.0, requires_grad=True)
    m = torch.ones(2, 2, requires_grad=True)
    kept = {
        node.name(): [name[7:] for name in dir(node) if name.startswith("_saved_")]
        for node in [
            (x @ x).grad_fn,
            torch.mv(m, x).grad_fn,
            torch.mm(m, m).grad_fn,
            torch.addmv(x, m, x).grad_fn,
            torch.addr(m, x, x).grad_fn,
        ]
    }
    assert kept == {
        "DotBackward0": ["self", "tensor"],
        "MvBackward0": ["self", "vec"],
        "MmBackward0": ["mat2", "self"],
        "AddmvBackward0": ["alpha", "beta", "mat", "vec"],
        "AddrBackward0": ["alpha", "beta", "vec1", "vec2"],
    }
    assert torch.mv(m, x).grad_fn._saved_vec is x


def test_what_nodes_keep_of_shapes_and_axes_has_pytorchs_names():
    x = torch.ones(3, 4, requires_grad=True)
    for y in (
        x.sum(),
        x.sum(1),
        x.view(12),
        x[0],
        x.sort(1)[0],
        x.index_select(0, torch.tensor([0])),
    ):
        assert y.grad_fn._saved_self_sym_sizes == (3, 4)
    assert x.mean().grad_fn._saved_self_sym_numel == 12
    assert x.permute(1, 0).grad_fn._saved_dims == (1, 0) and x.flip(0).grad_fn._saved_dims == (0,)
    assert (x.transpose(0, 1).grad_fn._saved_dim0, x.tril(1).grad_fn._saved_diagonal) == (0, 1)
    assert torch.nn.functional.mse_loss(x, x).grad_fn._saved_reduction == 1
