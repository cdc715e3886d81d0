"""`autograd.functional`: values, shapes, what is required of functions, strict mode."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from tapegrad.autograd.gradcheck.numerical import numerical_jacobian
from tests.messages import raises, raises_beginning


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


X, V = tensor(1.0, 2.0), tensor(1.0, 10.0)


def cubes(x):
    return (x**3).sum()


def quadratic(x, y):
    return (x * x * y).sum()


# --- jacobian ---


def test_the_jacobian_has_the_shape_of_output_and_input():
    got = jacobian(lambda x: x[:, None] * x, X)
    assert got.shape == (2, 2, 2)
    assert got.tolist() == [[[2.0, 0.0], [2.0, 1.0]], [[2.0, 1.0], [0.0, 4.0]]]


def test_the_jacobian_of_a_number_has_the_shape_of_the_input():
    assert jacobian(cubes, X).tolist() == [3.0, 12.0]


def test_several_inputs_give_a_tuple():
    a, b = jacobian(lambda x, y: x * y.sum(), (X, tensor(3.0)))
    assert a.tolist() == [[3.0, 0.0], [0.0, 3.0]] and b.tolist() == [[1.0], [2.0]]


def test_several_outputs_give_a_tuple_of_what_each_gives():
    (a, b), (c, d) = jacobian(lambda x, y: (x * 2, (x * y).sum()), (X, V))
    assert a.tolist() == [[2.0, 0.0], [0.0, 2.0]] and b.tolist() == [[0.0, 0.0]] * 2
    assert c.tolist() == [1.0, 10.0] and d.tolist() == [1.0, 2.0]
    a, b = jacobian(lambda x: (x * 2, x.sum()), X)
    assert a.shape == (2, 2) and b.tolist() == [1.0, 1.0]


def test_one_input_in_a_tuple_gives_a_tuple():
    assert type(jacobian(cubes, (X,))) is tuple


@pytest.mark.parametrize("options", [{"vectorize": True}, {}])
def test_vectorized_jacobians_are_the_same(options):
    assert jacobian(lambda x: x**2, X, **options).tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_forward_mode_gives_the_same():
    got = jacobian(lambda x: x**2, X, vectorize=True, strategy="forward-mode")
    assert got.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_results_have_no_history_unless_asked_for():
    x = X.clone().requires_grad_()
    assert not jacobian(lambda x: x**3, x).requires_grad
    got = jacobian(lambda x: x**3, x, create_graph=True)
    (g,) = torch.autograd.grad(got.sum(), x)
    assert g.tolist() == [6.0, 12.0] and x.grad is None


def test_outputs_that_do_not_depend_on_an_input_give_zeros():
    assert jacobian(lambda x: torch.ones(2, dtype=x.dtype), X).tolist() == [[0.0, 0.0]] * 2
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not"):
        jacobian(lambda x: torch.ones(2, dtype=x.dtype), X, strict=True)
    with pytest.raises(RuntimeError, match="is independent of input 1"):
        jacobian(lambda x, y: x * 2, (X, V), strict=True)


def test_functions_run_under_no_grad_are_differentiated_all_the_same():
    with torch.no_grad():
        assert jacobian(cubes, X).tolist() == [3.0, 12.0]
        assert hessian(cubes, X).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_empty_outputs_give_empty_jacobians():
    assert jacobian(lambda x: x[:0] * 2, X).shape == (0, 2)


# --- hessian ---


def test_the_hessian_is_square():
    assert hessian(cubes, X).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_the_hessian_of_several_inputs_is_a_table():
    (a, b), (c, d) = hessian(quadratic, (X, V))
    assert a.tolist() == [[2.0, 0.0], [0.0, 20.0]] and b.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert c.tolist() == [[2.0, 0.0], [0.0, 4.0]] and d.tolist() == [[0.0, 0.0]] * 2


def test_the_hessian_of_a_matrix_has_four_dimensions():
    x = torch.arange(4.0, dtype=torch.float64).reshape(2, 2)
    got = hessian(lambda x: (x @ x).sum(), x)
    assert got.shape == (2, 2, 2, 2)
    assert got[0, 0].tolist() == [[2.0, 1.0], [1.0, 0.0]]


def test_a_hessian_can_be_differentiated():
    x = X.clone().requires_grad_()
    (g,) = torch.autograd.grad(hessian(cubes, x, create_graph=True).sum(), x)
    assert g.tolist() == [6.0, 6.0]


def test_a_hessian_needs_one_number():
    with raises(
        RuntimeError,
        "The Tensor returned by the function given to hessian should contain a single element",
    ):
        hessian(lambda x: x * x, X)
    with raises(RuntimeError, "The function given to hessian should return a single Tensor"):
        hessian(lambda x: (cubes(x), cubes(x)), X)


def test_in_strict_mode_a_linear_function_has_no_hessian():
    assert hessian(lambda x: x.sum(), X).tolist() == [[0.0, 0.0]] * 2
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function"):
        hessian(lambda x: x.sum(), X, strict=True)


# --- products with vectors ---


def test_vjp_gives_the_output_and_the_product():
    y, g = vjp(lambda x: x**2, X, V)
    assert y.tolist() == [1.0, 4.0] and g.tolist() == [2.0, 40.0]
    assert not y.requires_grad and not g.requires_grad


def test_jvp_gives_the_output_and_the_product():
    y, t = jvp(lambda x: x.flip(0) ** 2, X, V)
    assert y.tolist() == [4.0, 1.0] and t.tolist() == [40.0, 2.0]


def test_vhp_and_hvp_give_the_number_and_the_product():
    for product in (vhp, hvp):
        y, h = product(cubes, X, V)
        assert y.item() == 9.0 and h.tolist() == [6.0, 120.0]


def test_products_of_several_inputs_are_tuples():
    y, (a, b) = vjp(quadratic, (X, V))
    assert y.item() == 41.0 and a.tolist() == [2.0, 40.0] and b.tolist() == [1.0, 4.0]
    y, t = jvp(quadratic, (X, V), (V, X))
    assert t.item() == 2.0 + 400.0 + 1.0 + 8.0
    for product in (vhp, hvp):
        _, (a, b) = product(quadratic, (X, V), (V, X))
        assert a.tolist() == [4.0, 208.0] and b.tolist() == [2.0, 40.0]


def test_products_can_be_differentiated():
    x = X.clone().requires_grad_()
    for product in (vhp, hvp):
        _, h = product(cubes, x, V, create_graph=True)
        (g,) = torch.autograd.grad(h.sum(), x)
        assert g.tolist() == [6.0, 60.0]
    _, t = jvp(lambda x: x**3, x, V, create_graph=True)
    assert torch.autograd.grad(t.sum(), x)[0].tolist() == [6.0, 120.0]


def test_a_vector_is_needed_unless_there_is_one_element():
    assert vjp(cubes, X)[1].tolist() == [3.0, 12.0]
    with raises(
        RuntimeError,
        "The vector v can only be None if the user-provided function returns a single Tensor "
        "with a single element.",
    ):
        vjp(lambda x: x * x, X)
    with raises(
        RuntimeError,
        "The vector v can only be None if the input to the user-provided function is a single "
        "Tensor with a single element.",
    ):
        jvp(lambda x: x * x, X)


def test_a_vector_has_the_right_shape():
    with raises(
        RuntimeError, "v has invalid size: should be torch.Size([2]) but got torch.Size([3])."
    ):
        vjp(lambda x: x * x, X, torch.ones(3))
    with raises(RuntimeError, "v is a tuple of invalid length: should be 2 but got 1."):
        jvp(quadratic, (X, V), V)


def test_inputs_and_outputs_are_tensors():
    with raises(
        TypeError,
        "The inputs given to jacobian must be either a Tensor or a tuple of Tensors but the given "
        "inputs has type <class 'float'>.",
    ):
        jacobian(cubes, 1.0)
    with raises(
        TypeError,
        "The outputs of the user-provided function given to vjp must be either a Tensor or a "
        "tuple of Tensors but the given outputs of the user-provided function has type "
        "<class 'float'>.",
    ):
        vjp(lambda x: 1.0, X)


def test_inputs_stay_as_they_are():
    x = X.clone().requires_grad_()
    for function in (jacobian, hessian):
        function(cubes, x)
    for function in (vjp, jvp, vhp, hvp):
        function(cubes, x, None if function is vjp else V)
    assert x.grad is None and x.is_leaf


class Lopsided(torch.autograd.Function):
    """A product of which the gradients are not those of one function."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return (x * y).sum()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * (x + y), g * (x + y).detach() * WEIGHT


class Constant(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return torch.ones(2)


WEIGHT = torch.ones(2, requires_grad=True)
ONES = torch.ones(2)


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (
            lambda kw: vjp(lambda x: x.sum() * 2, ONES, **kw),
            "The jacobian of the user-provided function is independent of input 0. This is not "
            "allowed in strict mode when create_graph=True.",
        ),
        (
            lambda kw: jacobian(lambda x, y: (x**3).sum() + y.sum(), (ONES, ONES), **kw),
            "The jacobian of the user-provided function is independent of input 0. This is not "
            "allowed in strict mode when create_graph=True.",
        ),
        (
            lambda kw: vhp(lambda x: (x * x).sum(), ONES, ONES, **kw),
            "The hessian of the user-provided function is independent of input 0. This is not "
            "allowed in strict mode when create_graph=True.",
        ),
        (
            lambda kw: hvp(Lopsided.apply, (ONES, ONES), (ONES, ONES), strict=True),
            "The hessian of the user-provided function is independent of entry 1 in the "
            "grad_jacobian. This is not allowed in strict mode as it prevents from using the "
            "double backward trick to replace forward mode AD.",
        ),
        (
            lambda kw: hvp(lambda x, y: x.sum() + (y * y).sum(), (ONES, ONES), (ONES, ONES), **kw),
            "While computing the hessian, found that the jacobian of the user-provided function "
            "with respect to input 0 is independent of the input. This is not allowed in strict "
            "mode. You should ensure that your function is twice differentiable and that the "
            "jacobian depends on the inputs (this would be violated by a linear function for "
            "example).",
        ),
        (
            lambda kw: jvp(Constant.apply, ONES, ONES, **kw),
            "The gradient with respect to input 0 is independent of the inputs of the "
            "user-provided function. This is not allowed in strict mode.",
        ),
        (
            lambda kw: hessian(lambda x: torch.ones(()), ONES, **kw),
            "Output 0 of the user-provided function does not require gradients. The outputs must "
            "be computed in a differentiable manner from the input when running in strict mode.",
        ),
    ],
)
def test_strict_mode_names_what_is_constant(compute, message):
    with raises(RuntimeError, message):
        compute({"strict": True, "create_graph": True})


def test_functions_are_looked_at_before_options_that_exclude_each_other():
    options = {"strict": True, "vectorize": True}
    with raises_beginning(
        RuntimeError, "Output 0 of the user-provided function does not require gradients"
    ):
        jacobian(lambda x: torch.ones(2), ONES, **options)
    with raises_beginning(RuntimeError, "torch.autograd.functional.jacobian: `strict=True` and"):
        jacobian(lambda x: x * 2, ONES, **options)
    with raises_beginning(
        TypeError, "The inputs given to hessian must be either a Tensor or a tuple"
    ):
        hessian(lambda x: x.sum(), 3.0, outer_jacobian_strategy="sideways")


@pytest.mark.parametrize("compute", [jacobian, vjp, jvp])
def test_complex_outputs_have_no_gradient_by_themselves(compute):
    with raises_beginning(
        RuntimeError, "grad can be implicitly created only for real scalar outputs but"
    ):
        compute(lambda z: z * z, torch.tensor([1 + 2j]))


def test_forward_mode_keeps_the_history_of_its_inputs_and_gives_lists():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    options = {"vectorize": True, "strategy": "forward-mode"}
    (table,) = jacobian(lambda x: (x**3).sum(), (x,), **options)
    table.sum().backward()
    assert x.grad.tolist() == [6, 12]
    rows = jacobian(lambda x, y: (x * y, x), (x, ONES), **options)
    assert type(rows) is list and [type(row) for row in rows] == [list, list]
    assert type(jacobian(lambda x: (x,), x, **options)) is tuple


# --- against finite differences ---


def curved(x):
    return (x.sin()[:, None] * (x * x).exp()).sum(0) * x.prod()


def by_differences(function, x):
    """The Jacobian (outputs, inputs) by central differences."""
    x = x.clone()
    (columns,) = numerical_jacobian(lambda: [function(x).detach().numpy()], x.numpy(), 1e-5)
    return columns.T


def slope(x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(curved(x).sum(), x)[0]


POINT, WEIGHTS = tensor(0.3, -0.8, 0.5), tensor(1.0, -2.0, 0.5)


@pytest.mark.parametrize(
    ("compute", "exact"),
    [
        (lambda: jacobian(curved, POINT), lambda j, h: j),
        (lambda: jacobian(curved, POINT, vectorize=True), lambda j, h: j),
        (lambda: jacobian(curved, POINT, vectorize=True, strategy="forward-mode"), lambda j, h: j),
        (lambda: vjp(curved, POINT, WEIGHTS)[1], lambda j, h: WEIGHTS.numpy() @ j),
        (lambda: jvp(curved, POINT, WEIGHTS)[1], lambda j, h: j @ WEIGHTS.numpy()),
        (lambda: hessian(lambda x: curved(x).sum(), POINT), lambda j, h: h),
        (
            lambda: hessian(
                lambda x: curved(x).sum(),
                POINT,
                vectorize=True,
                outer_jacobian_strategy="forward-mode",
            ),
            lambda j, h: h,
        ),
        (
            lambda: vhp(lambda x: curved(x).sum(), POINT, WEIGHTS)[1],
            lambda j, h: WEIGHTS.numpy() @ h,
        ),
        (
            lambda: hvp(lambda x: curved(x).sum(), POINT, WEIGHTS)[1],
            lambda j, h: h @ WEIGHTS.numpy(),
        ),
    ],
)
def test_derivatives_agree_with_differences(compute, exact):
    wanted = exact(by_differences(curved, POINT), by_differences(slope, POINT))
    np.testing.assert_allclose(compute().detach().numpy(), wanted, rtol=1e-6, atol=1e-8)
