"""`torch.func.jvp`: values, trees, nesting, errors."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd.forward_ad import dual_level, make_dual, unpack_dual
from tapegrad.func import grad, grad_and_value, jacrev, jvp, vjp, vmap

X, T = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])


def cube(x):
    return x**3


def test_value_and_tangent():
    y, t = jvp(cube, (X,), (T,))
    assert y.tolist() == [1.0, 8.0] and t.tolist() == [3.0, 6.0]


def test_several_arguments_and_trees_of_results():
    Pair = namedtuple("Pair", "a b")
    y, t = jvp(
        lambda d, x: Pair(d["u"][0] * x, OrderedDict(s=x.sum())), ({"u": [X]}, X), ({"u": [T]}, T)
    )
    assert type(t) is Pair and t.a.tolist() == [2.0, 2.0]
    assert list(t.b) == ["s"] and t.b["s"].item() == 1.5 and y.b["s"].item() == 3.0


def test_aux_is_handed_on_without_a_tangent():
    y, t, aux = jvp(lambda x: (x * 2, {"sum": x.sum()}), (X,), (T,), has_aux=True)
    assert y.tolist() == [2.0, 4.0] and t.tolist() == [2.0, 1.0] and aux["sum"].item() == 3.0


def test_an_output_that_does_not_depend_on_the_input():
    assert jvp(lambda x: torch.ones(2), (X,), (T,))[1].tolist() == [0.0, 0.0]
    assert jvp(lambda x: x == 1, (X,), (T,))[1].dtype is torch.bool
    with pytest.raises(RuntimeError, match="The output of f is independent of the inputs"):
        jvp(lambda x: torch.ones(2), (X,), (T,), strict=True)


def test_calls_nest():
    def slope(x):
        return jvp(cube, (x,), (torch.ones(2),))[1]

    def bend(x):
        return jvp(slope, (x,), (torch.ones(2),))[1]

    assert bend(X).tolist() == [6.0, 12.0]
    assert jvp(bend, (X,), (T,))[1].tolist() == [6.0, 3.0]


def test_an_inner_call_does_not_take_the_outer_tangent_for_its_own():
    def outer(x):
        return x * jvp(lambda y: x + y, (torch.ones(()),), (torch.ones(()),))[1]

    one = torch.ones(())
    assert jvp(outer, (torch.tensor(3.0),), (one,))[1].item() == 1.0


def test_inside_a_level():
    with dual_level():
        x = make_dual(torch.tensor(2.0), torch.tensor(1.0))
        y, t = jvp(cube, (x,), (torch.tensor(1.0),))
        assert unpack_dual(y).tangent.item() == 12.0 and unpack_dual(t).tangent.item() == 12.0


def test_gradients_flow_through_it():
    x = X.clone().requires_grad_()
    y, t = jvp(cube, (x,), (T,))
    assert torch.autograd.grad(t.sum(), x, retain_graph=True)[0].tolist() == [6.0, 6.0]
    assert torch.autograd.grad(y.sum(), x)[0].tolist() == [3.0, 12.0]


def test_a_gradient_inside_it():
    def gradient(x):
        x = x.detach() if not x.requires_grad else x
        return torch.autograd.grad(cube(x).sum(), x)[0]

    leaf = X.clone().requires_grad_()
    g, t = jvp(gradient, (leaf,), (T,))
    assert g.tolist() == [3.0, 12.0] and t.tolist() == [6.0, 6.0]


INSIDE = {
    "a gradient": grad(lambda x: x.sin().sum()),
    "a value": lambda x: grad_and_value(lambda x: x.sin().sum())(x)[1],
    "what vjp hands on": lambda x: vjp(torch.sin, x)[0],
    "what it pulls back": lambda x: vjp(torch.sin, x)[1](torch.ones(2))[0],
    "aux": lambda x: grad(lambda x: (x.sum(), x.sin()), has_aux=True)(x)[1],
    "a Jacobian": jacrev(torch.sin),
    "a batch": vmap(grad(torch.sin)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_gradients_flow_through_the_tangent_alone(name):
    def of_size(a):
        return jvp(INSIDE[name], (X,), (a * T,))[1].sum()

    one = torch.tensor(1.0)
    want = of_size(one)  # which is linear
    assert abs(want) > 0.1
    slope = grad(of_size)(one)
    assert torch.allclose(slope, want) and not slope.requires_grad
    a = one.clone().requires_grad_()
    assert torch.allclose(torch.autograd.grad(of_size(a), a)[0], want)
    assert torch.allclose(grad(lambda a: of_size(a * a))(one), 2 * want)


def test_gradients_flow_through_the_tangent_of_a_cotangent():
    def of_size(a):
        return jvp(lambda v: vjp(torch.sin, X)[1](v)[0], (T,), (a * T,))[1].sum()

    assert torch.allclose(grad(of_size)(torch.tensor(2.0)), (X.cos() * T).sum())


@pytest.mark.parametrize("name", INSIDE)
def test_a_tangent_of_a_gradient_is_of_no_graph(name):
    assert not any(y.requires_grad for y in jvp(INSIDE[name], (X,), (T,)))
    assert not jvp(lambda x: jvp(INSIDE[name], (x,), (T,))[1], (X,), (T,))[1].requires_grad


def test_tangents_of_tangents_of_a_remainder_that_broadcasts():
    divisor = torch.tensor([[1.5, 0.7, 2.5], [0.4, 1.1, 0.9]])
    x, t = X.reshape(2, 1), T.reshape(2, 1)

    def slope(x):
        return grad(lambda x: torch.remainder(x, divisor).sin().sum())(x)

    found = jvp(lambda x: jvp(slope, (x,), (t,))[1], (x,), (t,))[1]
    assert torch.allclose(found, -(torch.remainder(x, divisor).cos()).sum(1, True) * t * t)


def test_a_tangent_of_a_remainder_is_of_no_graph():
    def pulled(x):
        y, pull = vjp(lambda x: torch.fmod(x, torch.tensor(1.5)), x)
        return pull(y.cos())[0]

    assert not jvp(pulled, (X,), (T,))[1].requires_grad


def test_a_function_that_writes_into_its_argument():
    x = X.clone()
    y, t = jvp(lambda x: x.mul_(2), (x,), (T,))
    assert y.tolist() == x.tolist() == [2.0, 4.0] and t.tolist() == [2.0, 1.0]


def test_an_error_in_the_function_leaves_the_mode_as_it_was():
    with pytest.raises(KeyError):
        jvp(lambda x: {}["x"], (X,), (T,))
    assert repr(X * 2) == "tensor([2., 4.])"


START = "jvp(f, primals, tangents): "


@pytest.mark.parametrize(
    ("function", "primals", "tangents", "text"),
    [
        (
            cube,
            X,
            T,
            "Expected primals to be a tuple. E.g. it should be valid to call f(*primals).",
        ),
        (
            cube,
            (X, {"a": X}),
            (T,),
            "Expected primals and tangents to have the same python structure. For example, if "
            "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            "TreeSpec(tuple, None, [*,\n  TreeSpec(dict, ['a'], [*])]) and tangents with structure "
            "TreeSpec(tuple, None, [*])",
        ),
        (cube, (), (), "Expected primals to contain at least one Tensor."),
        (cube, (1.0,), (T,), "Expected primals to only contain Tensors, got <class 'float'>"),
        (cube, (X,), (1.0,), "Expected tangents to only contain Tensors, got <class 'float'>"),
        (
            lambda x: 3,
            (X,),
            (T,),
            "expected f(*primals) to return only tensors, got unsupported type <class 'int'>",
        ),
        (
            lambda x: (),
            (X,),
            (T,),
            "Expected f to be a function that has non-empty output (got output = [])",
        ),
    ],
)
def test_errors(function, primals, tangents, text):
    with pytest.raises(RuntimeError) as raised:
        jvp(function, primals, tangents)
    assert str(raised.value) == START + text


def test_aux_is_missing():
    with pytest.raises(
        RuntimeError, match="should be a tuple: \\(output, aux\\) if has_aux is True"
    ):
        jvp(cube, (X,), (T,), has_aux=True)


def test_integers_are_refused():
    n = torch.tensor([1])
    with pytest.raises(ValueError, match=r"^Expected primal to be floating point or complex, but"):
        jvp(cube, (n,), (n,))


def test_a_derivative_of_a_network_equals_differences():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
    ).double()
    x, t = torch.randn(5, 3).double(), torch.randn(5, 3).double()
    with torch.no_grad():
        _, pushed = jvp(net, (x,), (t,))
        want = (net(x + 1e-6 * t) - net(x - 1e-6 * t)) / 2e-6
    np.testing.assert_allclose(pushed.numpy(), want.numpy(), atol=1e-8)


def of_pairs(f):
    """A real function of pairs, made of one of complex numbers."""
    return lambda x: torch.view_as_real(f(torch.view_as_complex(x))).sin().sum()


COMPLEX = {
    "times its conjugate": of_pairs(lambda z: z * z.conj()),
    "conjugates twice": of_pairs(lambda z: z.conj() * z.conj() * z),
    "an imaginary part, which is a negative view": of_pairs(lambda z: z * z.conj().imag),
    "a dot product": of_pairs(lambda z: torch.vdot(z, z * z)),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_tangents_pass_what_is_read_of_conjugate_views(name):
    f = COMPLEX[name]
    x = torch.tensor([[0.3, -0.7], [1.1, 0.4]], dtype=torch.float64)
    t = torch.tensor([[0.5, 0.2], [-0.4, 0.9]], dtype=torch.float64)
    found = jvp(grad(f), (x,), (t,))[1]
    assert torch.allclose(found, grad(lambda x: (grad(f)(x) * t).sum())(x))  # it is symmetric
    third = jvp(grad(lambda x: grad(f)(x).sin().sum()), (x,), (t,))[1]
    want = grad(lambda x: (grad(lambda x: grad(f)(x).sin().sum())(x) * t).sum())(x)
    assert torch.allclose(third, want)
