"""Forward mode in tapegrad and in PyTorch: levels, operators, views, writes, custom functions."""

import pytest

import tapegrad
from tests.oracle.outcome import compare

POINT, DIRECTION = [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]


def in_level(torch, program):
    """`program(forward_ad, dual)` in a level: tensors it gives as (primal, tangent)."""
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        found = program(ad, ad.make_dual(torch.tensor(POINT), torch.tensor(DIRECTION)))
        found = found if isinstance(found, tuple) else (found,)
        return [tuple(ad.unpack_dual(y)) if isinstance(y, torch.Tensor) else y for y in found]


OPERATORS = {
    "product": lambda t, d: d * d.sin() / d.exp(),
    "power": lambda t, d: d**d,
    "reduction": lambda t, d: d.sum() * d.prod() + d.max(),
    "order": lambda t, d: d.sort(descending=True)[0],
    "choice": lambda t, d: t.where(d > 1.5, d, d * d).clamp(1, 4),
    "joined": lambda t, d: t.cat([d, t.ones(2), t.stack([d, d])[0]]),
    "matrix": lambda t, d: t.addmm(t.ones(3), t.ones(3, 1), d[None]),
    "einsum": lambda t, d: t.einsum("i,j->ij", d, d),
    "softmax": lambda t, d: t.softmax(d, 0),
    "layer norm": lambda t, d: t.nn.functional.layer_norm(d, (3,)),
    "convolution": lambda t, d: t.nn.functional.conv1d(d[None, None], t.ones(1, 1, 2)),
    "cross entropy": lambda t, d: t.nn.functional.cross_entropy(d[None], t.tensor([1])),
    "linear": lambda t, d: t.nn.functional.linear(d, t.ones(2, 3), t.ones(2)),
    "scan": lambda t, d: d.cumsum(0).cumprod(0),
    "norm": lambda t, d: d.norm() + d.std(),
    "determinant": lambda t, d: t.linalg.det(t.diag(d) + 0.1),
    "eigenvalues": lambda t, d: t.linalg.eigvalsh(t.diag(d)),
    "views": lambda t, d: (d.view(3, 1), d[1:], d.expand(2, 3), d.detach(), d.view_as(d)),
    "constants": lambda t, d: (d.long(), (d > 1).float(), t.zeros_like(d), d.round(), d.sign()),
    "conversions": lambda t, d: (d.double(), d.clone(), t.from_numpy(d.detach().numpy())),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_push_the_same_tangents(pytorch, name):
    operator = OPERATORS[name]
    compare(lambda t: in_level(t, lambda ad, d: operator(t, d)), tapegrad, pytorch)


def view_of_written(torch, d):
    view = d[1:]
    d.mul_(2)
    return d, view


def written_view(torch, d):
    view = d[1:]
    view.mul_(2)
    return d, view


def first_tangent_of_a_base(torch, d):
    board = torch.zeros(2, 3)
    row, column = board[0], board[:, 1]
    row.copy_(d)
    return board, row, column


def written_by_number(torch, d):
    d[0] = 5.0
    d[1] = d[2]
    return d


def without_recording(torch, d):
    with torch.no_grad():
        d.mul_(2)
    return d


WRITES = {
    "view": view_of_written,
    "written view": written_view,
    "first tangent": first_tangent_of_a_base,
    "by number": written_by_number,
    "zero": lambda t, d: d.zero_(),
    "fill": lambda t, d: d.fill_(d[1].clone()),
    "copy of a constant": lambda t, d: d.copy_(t.ones(3)),
    "itself": lambda t, d: d.add_(d),
    "product": lambda t, d: t.ones(3).mul_(d),
    "no grad": without_recording,
    "detach": lambda t, d: d.detach_(),
    "data": lambda t, d: (d.data.mul_(2), d),
    "mask": lambda t, d: d.masked_fill_(d > 1, 0.0),
    "clamp": lambda t, d: d.clamp_(1.5, 2.5),
    "out": lambda t, d: t.mul(t.ones(3), 2, out=d),
    "integers": lambda t, d: t.ones(3, dtype=t.int64).mul_(d),
    "transposed": lambda t, d: d.unsqueeze_(0).t_(),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_write_the_same_tangents(pytorch, name):
    write = WRITES[name]
    compare(lambda t: in_level(t, lambda ad, d: write(t, d)), tapegrad, pytorch)


def ones(torch):
    return torch.ones(3)


REFUSED = {
    "nested": lambda t, ad, d: ad.enter_dual_level(),
    "another level": lambda t, ad, d: ad.make_dual(ones(t), ones(t), level=1),
    "a level below": lambda t, ad, d: ad.make_dual(ones(t), ones(t), level=-1),
    "unpacking another level": lambda t, ad, d: ad.unpack_dual(d, level=1),
    "unpacking a level below": lambda t, ad, d: ad.unpack_dual(d, level=-1)[1],
    "leaving another level": lambda t, ad, d: ad.exit_dual_level(level=1),
    "twice": lambda t, ad, d: ad.make_dual(d, ones(t)),
    "a tangent of a tangent": lambda t, ad, d: ad.make_dual(ones(t), d),
    "another shape": lambda t, ad, d: ad.make_dual(ones(t), t.ones(2)),
    "integers": lambda t, ad, d: ad.make_dual(ones(t).long(), ones(t)),
    "a tangent of integers": lambda t, ad, d: ad.make_dual(ones(t), ones(t).long()),
    "a number": lambda t, ad, d: ad.make_dual(3.0, ones(t)),
    "unpacking a number": lambda t, ad, d: ad.unpack_dual(3.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_level_refuses_the_same(pytorch, name):
    refused = REFUSED[name]
    compare(lambda t: in_level(t, lambda ad, d: refused(t, ad, d)), tapegrad, pytorch)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, ad: ad.exit_dual_level(),
        lambda t, ad: ad.exit_dual_level(level=0),
        lambda t, ad: ad.make_dual(ones(t), ones(t)),
        lambda t, ad: ad.make_dual(ones(t), ones(t), level=0),
        lambda t, ad: ad.unpack_dual(ones(t)),
        lambda t, ad: ad.unpack_dual(3),
    ],
)
def test_outside_of_a_level_the_same_is_refused(pytorch, call):
    compare(lambda t: call(t, t.autograd.forward_ad), tapegrad, pytorch)


# --- custom functions ----------------------------------------------------------------------------


def custom(torch, forward, jvp):
    body = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    return type("Custom", (torch.autograd.Function,), body).apply


def in_place(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def without_derivative(ctx, x):
    y = x * 2
    ctx.mark_non_differentiable(y)
    return y


FORWARDS = {
    "new": lambda ctx, x: x * 2,
    "as it is": lambda ctx, x: x,
    "view": lambda ctx, x: x.view(3),
    "part": lambda ctx, x: x[:1],
    "in place": in_place,
    "without derivative": without_derivative,
    "integers": lambda ctx, x: x.long(),
}
TANGENTS = {
    "none": lambda t, g: None,
    "as it is": lambda t, g: g,
    "product": lambda t, g: g * 2,
    "written": lambda t, g: g.mul_(2),
    "written, a copy": lambda t, g: g.mul_(2).clone(),
    "written, a view": lambda t, g: g.mul_(2)[:],
    "view": lambda t, g: g.view(3),
    "part": lambda t, g: g[:1],
    "view of another": lambda t, g: t.ones(6)[:3],
    "sum": lambda t, g: g.sum(),
    "double": lambda t, g: g.double(),
    "integers": lambda t, g: g.long(),
    "two": lambda t, g: (g, g),
    "a number": lambda t, g: 3,
}
# PyTorch's own check of these fails, with a text about its source
ITS_OWN_CHECK = {("new", "none"), ("new", "integers")}


@pytest.mark.parametrize("forward", FORWARDS)
@pytest.mark.parametrize("tangent", TANGENTS)
@pytest.mark.parametrize("of_view", [False, True])
def test_custom_functions_have_the_same_tangents(pytorch, forward, tangent, of_view):
    def program(torch):
        function = custom(torch, FORWARDS[forward], lambda ctx, g: TANGENTS[tangent](torch, g))
        return in_level(torch, lambda ad, d: (function(d[:] if of_view else d), d))

    if (forward, tangent) in ITS_OWN_CHECK:
        with pytest.raises(RuntimeError, match=r"^Expected both tensor and its forward grad"):
            program(tapegrad)
        with pytest.raises(RuntimeError, match="Expected both tensor and its forward grad"):
            program(pytorch)
        return
    compare(program, tapegrad, pytorch)


@pytest.mark.parametrize("materialize", [True, False])
def test_jvp_is_given_the_same(pytorch, materialize):
    def program(torch):
        seen = []

        class Noting(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y, n, k):
                ctx.set_materialize_grads(materialize)
                ctx.save_for_backward(x)
                return x * y

            @staticmethod
            def jvp(ctx, *tangents):
                seen.append((tangents, ctx.saved_tensors, torch.is_grad_enabled()))
                return tangents[0]

        n = torch.ones(3, dtype=torch.int64)
        found = in_level(torch, lambda ad, d: Noting.apply(d, torch.ones(3), n, "text"))
        return seen, found

    compare(program, tapegrad, pytorch)


def test_forward_over_reverse_and_reverse_over_forward_agree(pytorch):
    def program(torch):
        ad = torch.autograd.forward_ad
        x = torch.tensor(POINT, requires_grad=True)
        with ad.dual_level():
            dual = ad.make_dual(x, torch.tensor(DIRECTION))
            y = (dual**3).sum()
            (g,) = torch.autograd.grad(y, dual, create_graph=True)
            product = ad.unpack_dual(g).tangent.detach()
            (again,) = torch.autograd.grad(ad.unpack_dual(y).tangent, x)
        return product, again

    compare(program, tapegrad, pytorch)
