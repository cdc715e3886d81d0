"""Derivatives of what is computed of sparse tensors, against differences; and their gradients."""

import pytest

import tapegrad as torch
from tapegrad.autograd import gradcheck, gradgradcheck

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch warns once in a process

INDICES = [[2, 0, 2, 1, 2], [1, 3, 1, 0, 2]]  # one is there twice
D = torch.arange(12.0, dtype=torch.float64).reshape(3, 4) - 4.5
W = torch.arange(8.0, dtype=torch.float64).reshape(4, 2) - 3.5
OTHER = torch.sparse_coo_tensor([[0, 2, 2], [3, 1, 0]], [1.5, 2.0, -1.0], (3, 4)).double()
SQUARE = torch.sparse_coo_tensor([[0, 1, 3], [1, 3, 2]], [1.0, 2.0, 3.0], (4, 4)).double()

FUNCTIONS = {
    "to_dense": lambda x: x,
    "coalesce": lambda x: x.coalesce(),
    "values": lambda x: x.coalesce().values(),
    "neg": lambda x: -x,
    "abs": lambda x: x.abs(),
    "sin": lambda x: x.sin(),
    "relu": lambda x: torch.nn.functional.relu(x),
    "square": lambda x: x.square(),
    "pow": lambda x: x**3,
    "times a number": lambda x: x * 2.5,
    "over a number": lambda x: x / 2.5,
    "plus sparse": lambda x: x + OTHER,
    "minus sparse": lambda x: x - 2 * OTHER,
    "times sparse": lambda x: x * OTHER,
    "times itself": lambda x: x * x,
    "times dense": lambda x: x * D,
    "dense plus": lambda x: D + x,
    "dense minus": lambda x: D.sub(x, alpha=2),
    "mm": lambda x: torch.sparse.mm(x, W),
    "matmul": lambda x: x @ W,
    "dense mm": lambda x: W.t() @ x.t(),
    "mv": lambda x: x @ W[:, 0],
    "mm of sparse": lambda x: x @ SQUARE,
    "mm with its own transpose": lambda x: torch.sparse.mm(x, x.t()),
    "addmm": lambda x: torch.addmm(torch.ones(3, 2).double(), x, W, beta=0.5, alpha=2.0),
    "sparse addmm": lambda x: torch.sparse.addmm(torch.ones(3, 2).double(), x, W, alpha=2.0),
    "bmm": lambda x: torch.bmm(torch.stack([x, x]), torch.stack([W, W + 1])),
    "smm": lambda x: torch.smm(x, W),
    "sspaddmm": lambda x: torch.sspaddmm(x, x, torch.eye(4).double()),
    "hspmm": lambda x: torch.hspmm(x, W),
    "sum": lambda x: torch.sparse.sum(x),
    "sum of columns": lambda x: torch.sparse.sum(x, 0),
    "sum of rows, kept": lambda x: x.sum(1, keepdim=True),
    "norm": lambda x: x.norm(),
    "softmax": lambda x: torch.sparse.softmax(x, 1),
    "log_softmax": lambda x: torch.sparse.log_softmax(x, 0),
    "cat": lambda x: torch.cat([x, OTHER, x], 1),
    "stack": lambda x: torch.stack([x, OTHER], 1),
    "transpose": lambda x: x.t(),
    "permute": lambda x: x.permute(1, 0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "index_select": lambda x: x.index_select(0, torch.tensor([2, 0, 2])),
    "select": lambda x: x[2],
    "an element": lambda x: x[2, 1],
    "narrow_copy": lambda x: x.narrow_copy(0, 1, 2),
    "sparse_mask": lambda x: x.sparse_mask(OTHER.coalesce()),
    "mask of dense": lambda x: (D * x.to_dense()).sparse_mask(OTHER.coalesce()),
    "to_sparse": lambda x: x.to_dense().square().to_sparse(),
    "clone": lambda x: x.clone(),
    "to": lambda x: x.to(torch.complex128).real,
}


def _dense(x):
    return x.to_dense() if x.is_sparse else x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_derivative_of_an_operator_is_that_of_differences(name):
    values = torch.tensor([1.5, -2.0, 0.75, 0.5, 2.5], dtype=torch.float64, requires_grad=True)

    def function(values):
        return _dense(FUNCTIONS[name](torch.sparse_coo_tensor(INDICES, values, (3, 4))))

    assert gradcheck(function, (values,))
    assert gradgradcheck(function, (values,))


DENSE = {
    "mm": lambda x: torch.sparse.mm(OTHER, x),
    "dense mm": lambda x: x.t() @ OTHER.t(),
    "addmm": lambda x: torch.addmm(x[:3], OTHER, x),
    "times": lambda x: OTHER * x.expand(4, 4)[:3],
    "plus": lambda x: x.reshape(2, 4).sum(0).expand(3, 4) + OTHER,
}


@pytest.mark.parametrize("name", DENSE)
def test_the_derivative_by_a_dense_operand_is_that_of_differences(name):
    x = W[:, :1].clone().requires_grad_() if name == "times" else W.clone().requires_grad_()
    assert gradcheck(lambda x: _dense(DENSE[name](x)), (x,))


def leaf(module):
    values = module.tensor([1.5, -2.0, 3.0], dtype=module.float64)
    return module.sparse_coo_tensor(
        [[0, 1, 2], [1, 3, 0]], values, (3, 4), is_coalesced=True, requires_grad=True
    )


SAME = {
    "mm": lambda t, s, w: t.sparse.mm(s, w),
    "to_dense": lambda t, s, w: s.to_dense(),
    "sum": lambda t, s, w: t.sparse.sum(s, 0).to_dense(),
    "mul": lambda t, s, w: (s * 2).to_dense(),
    "abs": lambda t, s, w: s.abs().to_dense(),
    "softmax": lambda t, s, w: t.sparse.softmax(s, 1).to_dense(),
    "values": lambda t, s, w: s.values(),
    "product": lambda t, s, w: (s * s).to_dense(),
}


@pytest.mark.parametrize("name", SAME)
def test_the_gradient_of_a_sparse_leaf_is_pytorchs(name, pytorch):
    texts = []
    for module in (torch, pytorch):
        s = leaf(module)
        w = module.arange(8.0, dtype=module.float64).reshape(4, 2).requires_grad_()
        out = SAME[name](module, s, w)
        factors = module.arange(1.0, 1 + out.numel(), dtype=module.float64).reshape(out.shape)
        (out * factors).sum().backward()
        texts.append(repr((s.grad, w.grad)))
    assert texts[0] == texts[1]


def test_hooks_of_a_sparse_tensor_see_a_sparse_gradient():
    s, seen = leaf(torch), []
    y = s * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g.is_sparse))
    handle = s.register_hook(lambda g: g * 10)
    torch.sparse.sum(y).backward()
    assert seen == [True]
    assert y.grad.values().tolist() == [1.0, 1.0, 1.0]
    assert s.grad.values().tolist() == [20.0, 20.0, 20.0]
    handle.remove()


def test_grad_with_respect_to_a_sparse_tensor_is_sparse_and_differentiable():
    s = leaf(torch)
    (g,) = torch.autograd.grad(torch.sparse.sum(s * s * s), s, create_graph=True)
    assert g.is_sparse and g.requires_grad
    (second,) = torch.autograd.grad(torch.sparse.sum(g), s)
    assert second.values().tolist() == [9.0, -12.0, 18.0]


def test_a_leaf_is_not_written_in_place_while_gradients_are_recorded():
    s = leaf(torch)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used"):
        s.mul_(2)
    with torch.no_grad():
        s.mul_(2)
    assert s._values().tolist() == [3.0, -4.0, 6.0] and s.is_leaf and s.requires_grad


def test_a_custom_function_keeps_a_sparse_tensor():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, matrix, x):
            ctx.save_for_backward(matrix)
            return torch.mm(matrix, x)

        @staticmethod
        def backward(ctx, g):
            (matrix,) = ctx.saved_tensors
            return None, torch.mm(matrix.t(), g)

    x = W.clone().requires_grad_()
    assert gradcheck(lambda x: Product.apply(OTHER, x), (x,))
