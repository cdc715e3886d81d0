"""`grad`, `vjp`, `linearize`, `jacrev`, `jacfwd`, `hessian`: values, trees, nesting, errors."""

from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapegrad as torch
from tapegrad.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)
from tests.messages import raises
from tests.tiers import rounds

X = torch.arange(6.0).reshape(2, 3)


V = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64)


def cubes(x):
    return (x**3).sum()


# --- grad ---


def test_the_gradient_of_a_number():
    assert grad(cubes)(X[0]).tolist() == [0.0, 3.0, 12.0]
    slope, value = grad_and_value(cubes)(X[0])
    assert slope.tolist() == [0.0, 3.0, 12.0] and value.item() == 9.0
    assert not slope.requires_grad and not value.requires_grad


def test_arguments_are_named_by_number_and_may_be_trees():
    def f(x, d):
        return (x * d["a"] * d["b"][0]).sum()

    d = {"a": X, "b": [X]}
    both = grad(f, argnums=(0, -1))(X, d)
    assert type(both) is tuple and both[0].tolist() == (X * X).tolist()
    assert both[1]["b"][0].tolist() == (X * X).tolist()
    assert grad(lambda x, y: (y * y).sum())(X, X).tolist() == torch.zeros(2, 3).tolist()


def test_aux_is_handed_on():
    _, aux = grad(lambda x: (cubes(x), {"twice": x * 2}), has_aux=True)(X[0])
    assert aux["twice"].tolist() == [0.0, 2.0, 4.0] and not aux["twice"].requires_grad
    assert grad_and_value(lambda x: (cubes(x), x), has_aux=True)(X[0])[1][0].item() == 9.0


def test_gradients_of_gradients():
    third = grad(grad(grad(lambda x: x**4)))
    assert third(torch.tensor(2.0)).item() == 48.0


def test_what_is_captured_stays_in_the_graph():
    w = torch.ones(3, requires_grad=True)
    slope = grad(lambda x: (x * w).sum() ** 2)(X[1])
    assert slope.requires_grad
    (g,) = torch.autograd.grad(slope.sum(), w)
    assert g.tolist() == [42.0, 48.0, 54.0]
    with torch.no_grad():
        assert not grad(lambda x: (x * w).sum())(X[1]).requires_grad


def test_no_grad_inside_counts_and_outside_does_not():
    def f(x):
        with torch.no_grad():
            c = (x**2).sum()
        return (x**2).sum() - c

    with torch.no_grad():
        assert grad(f)(X[0]).tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (
            RuntimeError,
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor "
            "with 2 dims. Maybe you wanted to use the vjp or jacrev APIs instead?",
            lambda: grad(torch.sin)(X),
        ),
        (
            RuntimeError,
            "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got <class 'int'>",
            lambda: grad(lambda x: 1)(X),
        ),
        (
            ValueError,
            "Thing passed to transform API must be Tensor, got <class 'float'>",
            lambda: grad(torch.sin)(1.0),
        ),
        (
            RuntimeError,
            "only Tensors of floating point dtype can require gradients",
            lambda: grad(torch.sum)(torch.arange(3)),
        ),
        (
            RuntimeError,
            "Got argnum=2, but only 2 positional inputs",
            lambda: grad(torch.dot, argnums=2)(X[0], X[0]),
        ),
        (
            RuntimeError,
            "argnums elements must be unique, got (0, 0)",
            lambda: grad(torch.dot, argnums=(0, 0))(X[0], X[0]),
        ),
        (
            RuntimeError,
            "a leaf Variable that requires grad is being used in an in-place operation.",
            lambda: grad(lambda x: x.mul_(2).sum())(X.clone()),
        ),
        (
            RuntimeError,
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms.",
            lambda: grad(lambda x: (x.sum().backward(), x.sum())[1])(X),
        ),
    ],
)
def test_errors_of_grad(error, message, call):
    with raises(error, message):
        call()


# --- vjp, linearize ---


def test_vjp_pulls_back_as_often_as_one_likes():
    out, pull = vjp(lambda x, y: {"a": x * y}, X[0], X[1])
    assert out["a"].tolist() == [0.0, 4.0, 10.0]
    for _ in range(2):
        gx, gy = pull({"a": torch.ones(3)})
        assert gx.tolist() == [3.0, 4.0, 5.0] and gy.tolist() == [0.0, 1.0, 2.0]
    rows = vmap(pull)({"a": torch.eye(3)})
    assert rows[0].tolist() == torch.diag(X[1]).tolist()


def test_errors_of_vjp():
    _, pull = vjp(torch.sin, X)
    with raises(
        RuntimeError,
        "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
        "the function. cotangents: (*,), primal output: *",
    ):
        pull((X,))
    with raises(
        RuntimeError,
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a "
        "shape of torch.Size([2, 3]).",
    ):
        pull(X[0])


def test_linearize_is_the_derivative_at_a_point():
    out, push = linearize(lambda x, y: (x.sin(), x * y), V, V * 2)
    _, want = jvp(lambda x, y: (x.sin(), x * y), (V, V * 2), (V * 3, V))
    got = push(V * 3, V)
    assert len(out) == 2
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12)
    with raises(
        RuntimeError,
        "tangent:0 with shape torch.Size([2]) in flattened pytree doesn't match the shape "
        "torch.Size([3]) of the corresponding primal.",
    ):
        push(V[:2], V)


# --- Jacobians ---


def test_jacobians_of_trees():
    def f(x, y):
        return x * y, {"s": y.sum()}

    for jacobian in (jacrev, jacfwd):
        (xx, xy), rest = jacobian(f, argnums=(0, 1))(X[0], X[1])
        assert xx.tolist() == torch.diag(X[1]).tolist() and xy.tolist() == torch.diag(X[0]).tolist()
        assert rest["s"][0].tolist() == [0.0] * 3 and rest["s"][1].tolist() == [1.0] * 3
        whole, aux = jacobian(lambda x: (x**2, x), has_aux=True)(X[1])
        assert whole.tolist() == torch.diag(2 * X[1]).tolist() and aux.tolist() == X[1].tolist()


def test_rows_in_chunks_are_the_same():
    for size in (1, 2, 7):
        assert jacrev(lambda x: x.outer(x), chunk_size=size)(V).tolist() == (
            jacrev(lambda x: x.outer(x))(V).tolist()
        )
    with raises(ValueError, "jacrev: `chunk_size` should be greater than 0."):
        jacrev(torch.sin, chunk_size=0)


def test_hessians_in_every_order_agree():
    def f(x):
        return (x.sin() * x.cumsum(0)).prod() + (x @ x) ** 2

    want = np.asarray(hessian(f)(V))
    for outer in (jacrev, jacfwd):
        for inner in (jacrev, jacfwd):
            np.testing.assert_allclose(np.asarray(outer(inner(f))(V)), want, rtol=1e-9)
    step = 1e-5
    for i in range(3):
        e = torch.zeros(3, dtype=torch.float64)
        e[i] = step
        column = (grad(f)(V + e) - grad(f)(V - e)) / (2 * step)
        np.testing.assert_allclose(want[:, i], np.asarray(column), rtol=1e-6, atol=1e-9)


def test_a_jacobian_of_what_is_written_part_by_part():
    def f(x):
        y = torch.zeros(3, dtype=x.dtype)
        y[0] = x[0]
        y[1:] = x[1:] * x[0]
        y[1].mul_(2)
        return y

    want = [[1.0, 0.0, 0.0], [0.4, 0.2, 0.0], [0.3, 0.0, 0.1]]
    for jacobian in (jacrev, jacfwd):
        np.testing.assert_allclose(np.asarray(jacobian(f)(V)), want, rtol=1e-12)


# --- gradients of each sample ---


def test_gradients_of_each_sample():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    names = {name: p.detach() for name, p in model.named_parameters()}
    targets = torch.tensor([0, 1])

    def loss(names, x, y):
        return torch.nn.functional.cross_entropy(functional_call(model, names, (x,)), y)

    each = vmap(grad(loss), in_dims=(None, 0, 0))(names, X, targets)
    for i in range(2):
        model.zero_grad()
        torch.nn.functional.cross_entropy(model(X[i]), targets[i]).backward()
        for name, p in model.named_parameters():
            np.testing.assert_allclose(np.asarray(each[name][i]), np.asarray(p.grad), atol=1e-6)


def test_models_in_one_batch():
    torch.manual_seed(0)
    models = [torch.nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = torch.func.stack_module_state(models)
    x = torch.randn(5, 3)
    out = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(parameters, buffers)
    want = torch.stack([model(x) for model in models])
    np.testing.assert_allclose(out.detach().numpy(), want.detach().numpy(), atol=1e-6)


# --- any transforms on top of each other, against loops and differences -----------------------


BASES = {
    "sin": torch.sin,
    "squares": lambda x: (x * x).sum(),
    "outer": lambda x: (x.reshape(-1, 1) @ x.reshape(1, -1)).tanh(),
    "softmax": lambda x: torch.softmax(x.reshape(-1), 0),
    "running": lambda x: x.reshape(-1).cumsum(0).exp(),
    "product": lambda x: (x + 1.5).prod(),
    "parts": lambda x: x.reshape(-1)[1:] * x.reshape(-1)[:-1],
    "largest": lambda x: x.max() * x,
    "choice": lambda x: torch.where(x > 0.1, x * x, -x),
    "write": lambda x: (x * 1).mul_(x).add_(1),
}


def total(y):
    return y.sin().sum()


def looped(g):
    return lambda x: torch.stack([g(x[i]) for i in range(len(x))]) if x.ndim else g(x)


def sloped(g, x, direction):
    """The derivative of `g` along a direction, with shorter steps where it is steep."""
    found = difference(g, x, direction, 2e-4)
    steep = found.abs().max().item() if found.numel() else 0.0
    return found if steep < 100 else difference(g, x, direction, 2e-3 / steep)


def difference(g, x, direction, h):
    """The central difference of fourth order."""
    step = h * direction
    near = g(x + step) - g(x - step)
    far = g(x + 2 * step) - g(x - 2 * step)
    return (8 * near - far) / (12 * h)


def gradient_by_differences(g, x):
    units = torch.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)
    slopes = [sloped(lambda z: total(g(z)), x, unit) for unit in units]
    return torch.stack(slopes).reshape(x.shape)


TRANSFORMS = {
    "vmap": lambda g: lambda x: vmap(g)(x) if x.ndim else g(x),
    "grad": lambda g: grad(lambda z: total(g(z))),
    "jvp": lambda g: lambda x: jvp(g, (x,), (x.cos(),))[1],
    "vjp": lambda g: lambda x: (lambda y, pull: pull(y.cos())[0])(*vjp(g, x)),
}


BY_HAND = {
    "vmap": looped,
    "grad": lambda g: lambda x: gradient_by_differences(g, x),
    "jvp": lambda g: lambda x: sloped(g, x, x.cos()),
    "vjp": lambda g: (
        lambda x: (lambda weights: gradient_of(lambda z: (g(z) * weights).sum(), x))(g(x).cos())
    ),
}


def gradient_of(f, x):
    units = torch.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)
    return torch.stack([sloped(f, x, unit) for unit in units]).reshape(x.shape)


@settings(max_examples=rounds(60, 5000), deadline=None)
@given(
    base=st.sampled_from(sorted(BASES)),
    names=st.lists(st.sampled_from(sorted(TRANSFORMS)), min_size=1, max_size=3),
    flat=st.booleans(),
)
def test_compositions_agree_with_loops_and_differences(base, names, flat):
    x = torch.tensor([[0.3, -0.7, 0.55], [0.9, 0.2, -0.4]], dtype=torch.float64)
    x = x[0] if flat else x
    g = BASES[base]
    for name in names[:-1]:
        g = TRANSFORMS[name](g)
    got = TRANSFORMS[names[-1]](g)(x)
    want = BY_HAND[names[-1]](g)(x)
    assert got.shape == want.shape
    scale = max(1.0, np.abs(np.asarray(want)).max(initial=0.0))
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), atol=1e-6 * scale, rtol=1e-6)


T = torch.ones(2, 3)


Z = X[0] * (1 + 1j)


Pair = namedtuple("Pair", "a b")


def summed(x, *more):
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
    ("argnums elements must be unique, got (0, 0)", lambda: grad(summed, argnums=(0, -1))(X)),
    ("argnum must be int, got: <class 'float'>", lambda: grad(summed, argnums=(0.0,))(X)),
    ("Got argnum=True, but only 1 positional inputs", lambda: grad(summed, argnums=True)(X)),
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
