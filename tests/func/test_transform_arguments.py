"""What `grad`, `vjp`, `jvp`, `jacrev`, `jacfwd` take and give back, and what they refuse."""

from collections import namedtuple

import pytest

import tapegrad as torch
from tapegrad.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from tests.messages import raises

X = torch.arange(6.0).reshape(2, 3)
T = torch.ones(2, 3)
Z = X[0] * (1 + 1j)
Pair = namedtuple("Pair", "a b")


def total(x, *more):
    return x.sum()


NO_TENSOR = "expected f(*primals) to return only tensors, got unsupported type <class 'int'>"
AUX = "Expected tensors, got unsupported type <class 'int'>"
NOT_REAL = "{}: Expected all {} to be real but received complex tensor at flattened input idx: 0"
NOT_INEXACT = (
    "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
    "dtype torch.int64"
)
EMPTY = "Expected f to be a function that has non-empty output (got output = {})"
CASES = [
    ("argnums elements must be unique, got (0, 0)", lambda: grad(total, argnums=(0, -1))(X)),
    ("argnum must be int, got: <class 'float'>", lambda: grad(total, argnums=(0.0,))(X)),
    ("Got argnum=True, but only 1 positional inputs", lambda: grad(total, argnums=True)(X)),
    (
        "grad can be implicitly created only for real scalar outputs but got torch.complex64",
        lambda: grad(lambda x: (x * 1j).sum())(X),
    ),
    (AUX, lambda: grad(lambda x: (x.sum(), 1), has_aux=True)(X)),
    (AUX, lambda: grad_and_value(lambda x: (x.sum(), [x, 1]), has_aux=True)(X)),
    (AUX, lambda: vjp(lambda x: (x, 1), X, has_aux=True)),
    (AUX, lambda: jvp(lambda x: (x, 1), (X,), (T,), has_aux=True)),
    (AUX, lambda: jacrev(lambda x: (x, 1), has_aux=True)(X)),
    (AUX, lambda: jacfwd(lambda x: (x, 1), has_aux=True)(X)),
    (f"vjp(f, *primals): {NO_TENSOR}", lambda: vjp(lambda x: (x, 1), X)),
    (f"vjp(f, *primals): {NO_TENSOR}", lambda: jacrev(lambda x: 1)(X)),
    (f"jvp(f, primals, tangents): {NO_TENSOR}", lambda: jacfwd(lambda x: 1)(X)),
    ("vjp(f, *primals): " + EMPTY.format("[None]"), lambda: vjp(lambda x: None, X)),
    ("vjp(f, *primals): " + EMPTY.format("[]"), lambda: vjp(lambda x: (), X)),
    (
        "jvp(f, primals, tangents): " + EMPTY.format("[None]"),
        lambda: jvp(lambda x: None, (X,), (T,)),
    ),
    (NOT_INEXACT, lambda: vjp(lambda x: x.long(), X)),
    (NOT_INEXACT, lambda: jacrev(lambda x: x.long())(X)),
    (NOT_REAL.format("jacrev", "inputs"), lambda: jacrev(torch.sin)(Z)),
    (NOT_REAL.format("jacfwd", "inputs"), lambda: jacfwd(torch.sin)(Z)),
    (NOT_REAL.format("jacrev", "outputs"), lambda: jacrev(lambda x: x * 1j)(X)),
    (NOT_REAL.format("jacfwd", "outputs"), lambda: jacfwd(lambda x: x * 1j)(X)),
    ("grad can be implicitly created only for scalar outputs", lambda: vjp(torch.sin, X)[1](None)),
    (
        "For complex Tensors, both grad_output and output are required to have the same dtype. "
        "Mismatch in dtype: grad_output[0] has a dtype of torch.complex64 and output[0] has a "
        "dtype of torch.float32.",
        lambda: vjp(torch.sin, X)[1](T * 1j),
    ),
]


@pytest.mark.parametrize(("message", "call"), CASES, ids=range(len(CASES)))
def test_what_is_refused(message, call):
    with raises(RuntimeError, message):
        call()
    assert repr(X[0] * 2) == "tensor([0., 2., 4.])"  # no mode is left behind


def test_cotangents_are_tensors_of_the_outputs_dtype():
    pull = vjp(lambda x: x * 2, X)[1]
    assert (
        pull(T.double())[0].dtype is torch.float32 and pull(T.long())[0].tolist() == [[2.0] * 3] * 2
    )
    assert vjp(torch.sum, X)[1](None)[0].tolist() == T.tolist()
    with raises(TypeError, "gradients can be either Tensors or None, but got float"):
        pull(1.0)
    with raises(NotImplementedError, "jvp along a complex tangent of a real primal"):
        jvp(torch.sin, (X,), (T * 1j,))


def test_a_function_of_nothing_has_a_pullback_that_gives_nothing():
    y, pull = vjp(lambda: X)
    assert y is X and pull(T) == ()


def test_a_graph_can_be_freed_by_the_last_pullback():
    pull = vjp(torch.sin, X)[1]
    pull(T, retain_graph=False)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        pull(T)


def test_trees_of_tensors_are_handed_on():
    _, aux = grad(lambda x: (x.sum(), (x, [x], {"a": x})), has_aux=True)(X)
    assert aux[2]["a"].tolist() == X.tolist() and aux[1][0].requires_grad is False
    assert grad(lambda x: (x.sum(), ()), has_aux=True)(X)[1] == ()


def test_what_is_captured_is_handed_on_as_it_is():
    w = torch.ones(3, requires_grad=True)
    f = grad(lambda x: ((x * w).sum(), (w, x * w)), has_aux=True)
    assert f(X[0])[1][0] is w and f(X[0])[1][1].requires_grad
    with torch.no_grad():
        _, (same, product) = f(X[0])
        assert same is w and not product.requires_grad


@pytest.mark.parametrize("around", [torch.no_grad, torch.enable_grad])
def test_results_have_a_graph_only_where_one_is_recorded_outside(around):
    w = torch.ones(3, requires_grad=True)
    f = lambda x: x * w  # noqa: E731
    with around():
        results = [
            vjp(f, X[0])[0],
            grad_and_value(lambda x: f(x).sum())(X[0])[1],
            linearize(f, X[0])[0],
            jvp(f, (X[0],), (X[0],))[0],
            vmap(f)(X),
        ]
    assert [y.requires_grad for y in results] == [around is torch.enable_grad] * 5


def test_a_value_pushed_forward_is_an_alias_of_the_functions():
    x = X[0].clone().requires_grad_()
    y, _ = jvp(torch.sin, (x,), (T[0],))
    assert repr(y) == "tensor([0.0000, 0.8415, 0.9093], grad_fn=<AliasBackward0>)"


def test_a_structure_names_the_class_of_a_named_tuple():
    with pytest.raises(ValueError, match=r"TreeSpec\(namedtuple, <class '.*Pair'>, \["):
        vmap(lambda x: Pair(x, x), out_dims=(0, 1))(X)
    with raises(TypeError, "size(): argument 'dim' (position 1) must be int, not bool"):
        vmap(torch.sin, in_dims=(True,))(X)


def test_second_derivatives_by_two_arguments():
    f = lambda x, y: (x * y).sum()  # noqa: E731
    (xx, xy), (yx, _) = hessian(f, argnums=(0, 1))(X[0, :2], X[1, :2])
    assert xx.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert xy.tolist() == yx.tolist() == [[1.0, 0.0], [0.0, 1.0]]
