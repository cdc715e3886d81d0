"""Calls of custom functions in tapegrad and in PyTorch: results, gradients, marks, refusals."""

import pytest

import tapegrad
from tests.oracle.outcome import compare


def leaf(torch):
    return torch.tensor([1.0, 2.0], requires_grad=True)


def custom(torch, forward, backward=None, **methods):
    body = {name: staticmethod(f) for name, f in {"forward": forward, **methods}.items()}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type("Custom", (torch.autograd.Function,), body)


def plain(torch, x):
    """Results, and what is to be seen of their place in the graph."""
    if isinstance(x, torch.Tensor):
        name = x.grad_fn.name() if x.grad_fn is not None else None
        return x.detach(), x.requires_grad, x._is_view(), name
    return [plain(torch, each) for each in x] if isinstance(x, (tuple, list)) else x


def saving(what):
    def forward(ctx, x):
        ctx.save_for_backward(*what(x))
        return x * 2

    return forward


def marking(mark, written=False):
    def forward(ctx, x):
        y = x.mul_(2) if written else x * 2
        mark(ctx, x, y)
        return y

    return forward


RESULTS = {
    "a tensor": lambda ctx, x: x * 2,
    "a tuple": lambda ctx, x: (x * 2, x * 3),
    "a tuple of one": lambda ctx, x: (x * 2,),
    "nothing": lambda ctx, x: (),
    "none": lambda ctx, x: None,
    "a list": lambda ctx, x: [x * 2],
    "a dictionary": lambda ctx, x: {"a": x * 2},
    "a mixture": lambda ctx, x: (x * 2, 3, "text", None),
    "a tuple in a tuple": lambda ctx, x: ((x * 2,), x * 3),
    "integers": lambda ctx, x: x.long(),
    "the argument": lambda ctx, x: x,
    "the argument twice": lambda ctx, x: (x, x),
    "a view": lambda ctx, x: x.view(2, 1),
    "two views": lambda ctx, x: (x[:1], x[1:]),
    "detached": lambda ctx, x: x.detach(),
    "one tensor twice": lambda ctx, x: (lambda y: (y, y))(x * 2),
    "a saved list": saving(lambda x: ([x],)),
    "a saved number": saving(lambda x: (3,)),
    "a saved none": saving(lambda x: (x, None)),
    "dirty number": marking(lambda ctx, x, y: ctx.mark_dirty(3)),
    "dirty result": marking(lambda ctx, x, y: ctx.mark_dirty(y)),
    "dirty, not returned": marking(lambda ctx, x, y: ctx.mark_dirty(x)),
    "dirty": marking(lambda ctx, x, y: ctx.mark_dirty(x), written=True),
    "written, not marked": marking(lambda ctx, x, y: None, written=True),
    "no derivative": marking(lambda ctx, x, y: ctx.mark_non_differentiable(y)),
    "no derivative of a number": marking(lambda ctx, x, y: ctx.mark_non_differentiable(3)),
    "materialize a number": marking(lambda ctx, x, y: ctx.set_materialize_grads(1)),
    "no such attribute": lambda ctx, x: ctx.nothing,
    "saved tensors in forward": lambda ctx, x: (ctx.save_for_backward(x), ctx.saved_tensors)[1],
    "saved tensors are set": marking(lambda ctx, x, y: setattr(ctx, "saved_tensors", 3)),
}
INPUTS = {
    "leaf": leaf,
    "no leaf": lambda t: leaf(t) * 1,
    "view": lambda t: (leaf(t) * 1)[:],
    "constant": lambda t: t.ones(2),
}


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("given", INPUTS)
@pytest.mark.parametrize("grad", [True, False])
def test_results_are_taken_the_same(pytorch, result, given, grad):
    def program(torch):
        with torch.set_grad_enabled(grad):
            found = custom(torch, RESULTS[result], lambda ctx, *g: g[0]).apply(INPUTS[given](torch))
        return plain(torch, found)

    compare(program, tapegrad, pytorch)


GRADIENTS = {
    "as it is": lambda t, g: g,
    "none": lambda t, g: None,
    "nothing": lambda t, g: (),
    "a tuple": lambda t, g: (g,),
    "with none": lambda t, g: (g, None),
    "with two nones": lambda t, g: (g, None, None),
    "two": lambda t, g: (g, g),
    "a list": lambda t, g: [g],
    "a number": lambda t, g: 3,
    "a number in a tuple": lambda t, g: (3, None),
    "a sum": lambda t, g: g.sum(),
    "another axis": lambda t, g: g[None],
    "expanded": lambda t, g: g.expand(3, 2),
    "repeated": lambda t, g: g.repeat(2),
    "double": lambda t, g: g.double(),
    "integers": lambda t, g: g.long(),
    "complex": lambda t, g: g * 1j,
    "three": lambda t, g: t.ones(3),
}


@pytest.mark.parametrize("gradient", GRADIENTS)
@pytest.mark.parametrize("n", [1, 2])
def test_gradients_are_taken_the_same(pytorch, gradient, n):
    def program(torch):
        def backward(ctx, g):
            return GRADIENTS[gradient](torch, g)

        function = custom(torch, lambda ctx, x, *rest: x * 2, backward)
        x = leaf(torch)
        y = function.apply(x, *range(n - 1)).sum()
        return torch.autograd.grad(y, x, allow_unused=True)

    compare(program, tapegrad, pytorch)


CALLS = {
    "by name": lambda f: f.apply(y=2.0, x=1.0),
    "a default": lambda f: f.apply(1.0),
    "too few": lambda f: f.apply(),
    "too many": lambda f: f.apply(1.0, 2.0, 3.0),
    "an unknown name": lambda f: f.apply(1.0, z=3.0),
    "twice": lambda f: f.apply(1.0, x=3.0),
    "an instance": lambda f: f(),
    "an instance called": lambda f: f()(1.0),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("separate", [True, False])
def test_arguments_are_taken_the_same(pytorch, call, separate):
    def program(torch):
        seen = []

        def setup(ctx, inputs, output):
            seen.append(inputs)

        if separate:
            function = custom(torch, lambda x, y=5.0: x * y, setup_context=setup)
        else:
            function = custom(torch, lambda ctx, x, y=5.0: x * y)
        found = CALLS[call](function)
        return (found if isinstance(found, float) else type(found).__name__), seen

    compare(program, tapegrad, pytorch)


@pytest.mark.parametrize("result", ["the argument", "a view", "two views", "one tensor twice"])
def test_writes_to_results_and_to_their_base_go_the_same(pytorch, result):
    def program(torch):
        log = []
        x = leaf(torch)
        base = x * 1
        found = custom(torch, RESULTS[result], lambda ctx, *g: sum(g)).apply(base)
        found = found if isinstance(found, tuple) else (found,)
        for target in (*found, base):
            try:
                target.mul_(2)
                log.append(target.grad_fn.name())
            except RuntimeError as error:
                log.append(str(error))
        for each in found:
            try:
                log.append(each.grad_fn.name())
            except RuntimeError as error:
                log.append(str(error))
        return log

    compare(program, tapegrad, pytorch)
