"""Writes inside transforms: to tensors from outside refused in PyTorch's words, others allowed."""

import pytest

import tapegrad as torch
from tapegrad.core.tensor_base import REFUSING
from tapegrad.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap
from tests.messages import raises

X = torch.tensor([1.0, 2.0, 3.0])
ROWS = torch.arange(6.0).reshape(2, 3)
FIRST = torch.tensor([0])


def refusal(operator):
    return (
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call "
        f"in-place operation (aten::{operator}) that would mutate a captured Tensor. This is not "
        "supported; please rewrite the function being transformed to explicitly accept the mutated "
        "Tensor(s) as inputs."
    )


REFUSED = {
    "add_": ("add_.Tensor", lambda c, x: c.add_(x)),
    "+=": ("add_.Tensor", lambda c, x: c.__iadd__(x)),
    "a number": ("mul_.Tensor", lambda c, x: c.mul_(2)),
    "comparison": ("eq_.Tensor", lambda c, x: c.eq_(x)),
    "comparison with a number": ("lt_.Scalar", lambda c, x: c.lt_(1)),
    "power": ("pow_.Scalar", lambda c, x: c.pow_(2)),
    "an element": ("copy_", lambda c, x: c.__setitem__(0, x[0])),
    "a number at a place": ("copy_", lambda c, x: c.__setitem__(0, 5.0)),
    "a slice": ("copy_", lambda c, x: c.__setitem__(slice(0, 2), x[:2])),
    "a mask": ("index_put_", lambda c, x: c.__setitem__(c > 0, 2.0)),
    "a list": ("index_put_", lambda c, x: c.__setitem__([0, 1], x[:2])),
    "index_put_": ("index_put_", lambda c, x: c.index_put_((FIRST,), x[:1])),
    "copy_": ("copy_", lambda c, x: c.copy_(x)),
    "fill_": ("fill_.Scalar", lambda c, x: c.fill_(3)),
    "zero_": ("zero_", lambda c, x: c.zero_()),
    "normal_": ("normal_", lambda c, x: c.normal_()),
    "bernoulli_": ("bernoulli_.float", lambda c, x: c.bernoulli_()),
    "scatter_": ("scatter_.value", lambda c, x: c.scatter_(0, FIRST, 1.0)),
    "masked_fill_": ("masked_fill_.Scalar", lambda c, x: c.masked_fill_(c > 0, 1.0)),
    "relu_": ("relu_", lambda c, x: torch.nn.functional.relu(c, inplace=True)),
    "logical_not_": ("logical_not_", lambda c, x: c.logical_not_()),
    "another spelling": ("sub_.Tensor", lambda c, x: c.subtract_(other=1)),
    "a view": ("add_.Tensor", lambda c, x: c.view(3).add_(x)),
    "a part": ("mul_.Tensor", lambda c, x: c[:2].mul_(2)),
    "a part of many": ("add_.Tensor", lambda c, x: c.split(1)[0].add_(1)),
    "what contiguous() gives": ("add_.Tensor", lambda c, x: c.contiguous().add_(1)),
    "what detach() gives": ("add_.Tensor", lambda c, x: c.detach().add_(1)),
    "a view of that": ("add_.Tensor", lambda c, x: c.detach()[:2].add_(1)),
    ".data": ("add_.Tensor", lambda c, x: c.data.add_(1)),
    "a parameter of it": ("add_.Tensor", lambda c, x: torch.nn.Parameter(c, False).add_(1)),
    "without grad": ("add_.Tensor", lambda c, x: torch.no_grad()(lambda: c.add_(x))()),
    "another shape": ("unsqueeze_", lambda c, x: c.unsqueeze_(0)),
    "other memory": ("set_.source_Tensor", lambda c, x: c.set_(torch.ones(3))),
    "another size": ("resize_", lambda c, x: c.resize_(3)),
    "detach_": ("detach_", lambda c, x: c.detach_()),
}

ALLOWED = {
    "a copy": lambda c, x: c.clone().add_(x),
    "what was computed": lambda c, x: (c * 2).add_(x),
    "picked elements": lambda c, x: c[[0, 1]].add_(1),
    "like it": lambda c, x: torch.zeros_like(c).add_(x),
    "of its kind": lambda c, x: c.new_zeros(3).add_(x),
    "a truth value": lambda c, x: (c > 0).logical_not_(),
    "sorted": lambda c, x: c.sort()[0].add_(x),
    "from a list": lambda c, x: torch.tensor([1.0, 2.0, 3.0]).add_(x),
    "random": lambda c, x: torch.rand(3).mul_(x),
    "an empty one, by parts": lambda c, x: torch.empty(2, 3)[0].copy_(x),
    "the argument without history": lambda c, x: x.detach().add_(1),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_captured_tensor_is_not_written(case):
    operator, write = REFUSED[case]
    c = torch.ones(3)
    for transform in (grad, lambda f: lambda x: jvp(f, (x,), (x,))):
        with raises(RuntimeError, refusal(operator)):
            transform(lambda x: (write(c, x), (c * x).sum())[1])(X)
    assert c.tolist() == [1, 1, 1] and c._version == 0 and not c.requires_grad
    write(c, torch.ones(3))  # nothing of it is left behind


@pytest.mark.parametrize("case", ALLOWED)
def test_what_is_made_inside_is_written(case):
    c, x = torch.ones(3), X.clone()
    slope = grad(lambda x: (ALLOWED[case](c, x), (c * x).sum())[1])(x)
    assert slope.tolist() == c.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "transform",
    [
        grad,
        grad_and_value,
        jacrev,
        jacfwd,
        hessian,
        lambda f: lambda x: vjp(f, x),
        lambda f: lambda x: vmap(grad(f))(x[None]),
        lambda f: lambda x: grad(lambda m: vmap(f)(m).sum())(x[None]),
        lambda f: lambda x: grad(lambda y: jvp(f, (y,), (y,))[1])(x),
    ],
)
def test_every_transform_that_differentiates_refuses(transform):
    c = torch.ones(3)
    with raises(RuntimeError, refusal("add_.Tensor")):
        transform(lambda x: (c.add_(1) * x).sum())(X)
    assert c.tolist() == [1, 1, 1]


def test_vmap_alone_does_not():
    c = torch.ones(3)
    assert vmap(lambda x: c.add_(1) * x)(ROWS).tolist() == (ROWS * 2).tolist()
    assert c.tolist() == [2, 2, 2]


@pytest.mark.parametrize("transform", [grad, jacrev, jacfwd])
def test_arguments_are_written_and_keep_no_history(transform):
    def f(x, c, rest=None):
        c.add_(x)
        c[:2].mul_(2)
        if rest is not None:
            rest["d"][0].detach().mul_(5)
        return (c * x).sum()

    c, d = torch.ones(3), torch.ones(3)
    assert transform(f)(X, c, rest={"d": [d]}).tolist() == [6, 10, 7]
    assert c.tolist() == [4, 6, 4] and d.tolist() == [5, 5, 5]
    assert not c.requires_grad and c.grad_fn is None


def test_an_argument_written_along_what_is_outside_belongs_to_its_graph():
    w, c = torch.ones(3, requires_grad=True), torch.zeros(3)
    grad(lambda x, c: (c.add_(w * 3), x.sum())[1])(X, c)
    assert torch.autograd.grad(c.sum(), w)[0].tolist() == [3, 3, 3]


# --- levels ---


def test_what_an_outer_function_has_made_is_captured_by_an_inner_one():
    def outer(x, make):
        a = make(x)
        return grad(lambda y: (a.add_(1) * y).sum())(x).sum()

    for make in (lambda x: torch.zeros(3), lambda x: x * 2):
        with raises(RuntimeError, refusal("add_.Tensor")):
            grad(outer)(X, make)


def test_but_it_may_be_handed_in():
    def outer(x):
        a = torch.zeros(3)
        slope = grad(lambda y, a: (a.add_(y), (a * y).sum())[1])(x, a)
        return (slope * a * x).sum()

    assert grad(outer)(X).tolist() == [6, 24, 54]
    c = torch.zeros(3)
    inner = lambda y, a: (a.add_(y), (a * y).sum())[1]  # noqa: E731
    grad(lambda x, a: grad(inner)(x, a).sum())(X, c)
    assert c.tolist() == X.tolist() and not c.requires_grad


def test_what_an_inner_function_has_made_is_the_outer_ones():
    kept = []

    def outer(x):
        slope = grad(lambda y: (kept.append(torch.zeros(3)), (y * y).sum())[1])(x)
        return (slope * kept[0].add_(1)).sum()

    assert grad(outer)(X).tolist() == [2, 2, 2]
    kept[0].add_(1)  # outside
    with raises(RuntimeError, refusal("add_.Tensor")):
        grad(lambda x: (kept[0].add_(1) * x).sum())(X)
    assert kept[0].tolist() == [2, 2, 2]


def test_batches_made_inside_are_written():
    a = torch.zeros(3)
    with raises(RuntimeError, refusal("add_.Tensor")):
        grad(lambda m: vmap(lambda x: a.add_(1) * x)(m).sum())(ROWS)

    def f(m):
        a = torch.zeros(3)
        return vmap(lambda x: a.add_(1) * x)(m).sum()

    assert grad(f)(ROWS).tolist() == [[1, 1, 1]] * 2
    with raises(RuntimeError, refusal("add_.Tensor")):
        vmap(lambda x: (lambda a: grad(lambda y: (a.add_(1) * y).sum())(x))(torch.zeros(3)))(ROWS)


# --- modules and optimisers ---


def test_counters_of_a_module_are_captured_unless_handed_in():
    layer = torch.nn.BatchNorm1d(3)
    parameters, buffers = dict(layer.named_parameters()), dict(layer.named_buffers())
    call = torch.func.functional_call
    with raises(RuntimeError, refusal("add_.Tensor")):
        grad(lambda p: call(layer, p, (ROWS,)).pow(2).sum())(parameters)
    assert layer.num_batches_tracked.item() == 0
    grad(lambda p, b: call(layer, (p, b), (ROWS,)).pow(2).sum())(parameters, buffers)
    assert layer.num_batches_tracked.item() == 1


def test_an_optimiser_does_not_step_inside():
    p = torch.nn.Parameter(torch.ones(3))
    p.grad = torch.ones(3)
    with raises(RuntimeError, refusal("add_.Tensor")):
        grad(lambda x: (torch.optim.SGD([p], 0.1).step(), x.sum())[1])(X)
    assert p.tolist() == [1, 1, 1]


def test_an_error_leaves_nothing_behind():
    with pytest.raises(KeyError):
        grad(lambda x: {}["x"])(X)
    with torch.autograd.graph.saved_tensors_hooks(id, id), pytest.raises(RuntimeError):
        grad(torch.sum)(X)  # not even begun
    assert REFUSING == [0]
    assert torch.ones(3).add_(1).tolist() == [2, 2, 2]
