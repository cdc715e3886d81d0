"""`autograd.functional` in tapegrad and in PyTorch: values, structures, every refusal."""

import pytest

import tapegrad
from tests.oracle.outcome import compare

FUNCTIONS = {
    "cubes": (lambda t, x: (x**3).sum(), 1),
    "elements": (lambda t, x: x.sin(), 1),
    "linear": (lambda t, x: x.sum() * 2, 1),
    "constant": (lambda t, x: t.ones(()), 1),
    "two inputs": (lambda t, x, y: (x**3).sum() * (y**3).sum(), 2),
    "one of two inputs": (lambda t, x, y: (y**3).sum(), 2),
    "linear in one": (lambda t, x, y: x.sum() + (y**3).sum(), 2),
    "product": (lambda t, x, y: x.sum() * y.sum(), 2),
    "two outputs": (lambda t, x, y: (x.exp(), y.sum() * x.sum()), 2),
    "a constant beside": (lambda t, x: (x.exp(), t.ones(2)), 1),
    "a tuple of one": (lambda t, x: (x.exp(),), 1),
    "a list": (lambda t, x: [x.exp()], 1),
    "a number": (lambda t, x: 3, 1),
    "a number beside": (lambda t, x: (x.exp(), 3), 1),
    "integers": (lambda t, x: x.long(), 1),
    "one element": (lambda t, x: (x**3).sum().reshape(1), 1),
    "detached": (lambda t, x: (x.detach() ** 2).sum(), 1),
    "written": (lambda t, x: (x * 1).mul_(x).sum(), 1),
    "written input": (lambda t, x: x.mul_(2).sum(), 1),
    "itself": (lambda t, x: x, 1),
    "error": (lambda t, x: 1 / 0, 1),
}
OPTIONS = [{}, {"strict": True}, {"strict": True, "create_graph": True}]
BATCHED = [
    {"vectorize": True},
    {"vectorize": True, "strategy": "forward-mode"},
    {"strategy": "forward-mode"},
    {"strategy": "sideways"},
    {"vectorize": True, "strict": True},
    {"vectorize": True, "strategy": "forward-mode", "create_graph": True},
]


def inputs(torch, n):
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[0.5, 2.0]])
    return (x, y)[:n] if n > 1 else x


def plain(torch, x):
    """The same without history: the names of nodes behind derivatives are each library's own."""
    if isinstance(x, torch.Tensor):
        return x.detach()
    return type(x)(plain(torch, each) for each in x) if isinstance(x, (tuple, list)) else x


def called(torch, name, function, options, vector=None):
    code, n = FUNCTIONS[function]
    compute = getattr(torch.autograd.functional, name)
    given = inputs(torch, n)
    vectors = () if vector is None else (vector(torch, given),)
    return plain(torch, compute(lambda *xs: code(torch, *xs), given, *vectors, **options))


def ones(torch, like):
    return tuple(map(torch.ones_like, like)) if type(like) is tuple else torch.ones_like(like)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["jacobian", "hessian", "vjp"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives_are_the_same(pytorch, name, function, options):
    compare(lambda torch: called(torch, name, function, options), tapegrad, pytorch)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["jvp", "vhp", "hvp"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_products_are_the_same(pytorch, name, function, options):
    compare(lambda torch: called(torch, name, function, options, ones), tapegrad, pytorch)


@pytest.mark.parametrize("options", BATCHED, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_matrices_in_one_batch_are_the_same(pytorch, function, options):
    compare(lambda torch: called(torch, "jacobian", function, options), tapegrad, pytorch)
    outer = {"outer_jacobian_strategy" if k == "strategy" else k: v for k, v in options.items()}
    if not (outer.get("create_graph") or outer.get("strict")):
        compare(lambda torch: called(torch, "hessian", function, outer), tapegrad, pytorch)


VECTORS = {
    "too short": lambda t, x: t.ones(2),
    "a column": lambda t, x: t.ones(3, 1),
    "a tuple of one": lambda t, x: (t.ones(3),),
    "a tuple of two": lambda t, x: (t.ones(3), t.ones(1, 2)),
    "a list": lambda t, x: [t.ones(3)],
    "a number": lambda t, x: 3,
    "a tuple of a number": lambda t, x: (3,),
}


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize(
    ("name", "function"),
    [(n, f) for n in ("jvp", "vhp", "hvp") for f in ("cubes", "two inputs")]
    + [("vjp", "itself"), ("vjp", "two outputs")],
)
def test_vectors_are_checked_the_same(pytorch, name, function, vector):
    compare(lambda torch: called(torch, name, function, {}, VECTORS[vector]), tapegrad, pytorch)


@pytest.mark.parametrize("name", ["jacobian", "hessian", "vjp", "jvp", "vhp", "hvp"])
@pytest.mark.parametrize(
    "given",
    [
        lambda t: 3.0,
        lambda t: [t.ones(2)],
        lambda t: (t.ones(2), 3.0),
        lambda t: t.ones(2, dtype=t.int64),
        lambda t: t.tensor(2.0),
    ],
)
def test_inputs_are_checked_the_same(pytorch, name, given):
    def program(torch):
        compute = getattr(torch.autograd.functional, name)
        return plain(torch, compute(lambda *xs: (xs[0] ** 3).sum(), given(torch)))

    compare(program, tapegrad, pytorch)
