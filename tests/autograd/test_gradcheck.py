"""gradcheck and gradgradcheck: what passes, what fails, and PyTorch's texts."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd import Function, gradcheck, gradgradcheck
from tapegrad.autograd.gradcheck import GradcheckError
from tapegrad.autograd.gradcheck.numerical import difference_along, numerical_jacobian

D, C = torch.float64, torch.complex128


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def real(*shape):
    return torch.randn(*shape, dtype=D, requires_grad=True)


def complex_(*shape):
    return torch.randn(*shape, dtype=C, requires_grad=True)


class Thrice(Function):
    """Twice its input, with the gradient of three times."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Pushed(Function):
    """Twice its input, with a tangent of three times."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2

    @staticmethod
    def jvp(ctx, t):
        return t * 3


class Unsteady(Function):
    """Twice its input, with a gradient that is another one each time."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        Unsteady.calls += 1
        return g * 2 * (1 + 1e-7 * Unsteady.calls)


class Particular(Function):
    """Twice its input; `answer(g)` is its gradient."""

    answer = None

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return Particular.answer(g)


# --- what passes -----------------------------------------------------------------------------

SMOOTH = [
    (lambda x: x * x, [real]),
    (lambda x, y: (x * y, x.sin()), [real, real]),
    (lambda z: z * z, [complex_]),
    (lambda z: z.abs(), [complex_]),
    (lambda z: (z.real, z.conj() * z), [complex_]),
    (lambda x: torch.complex(x, x * x), [real]),
    (lambda x, z: (x * z, x), [real, complex_]),
    (lambda x: x.clone().mul_(x), [real]),
    (lambda x: x.mT.reshape(-1), [real]),
    (lambda x: (x.argmax(), x * 2), [real]),
    (lambda x: (x.detach() * 0, x * 2), [real]),
    (lambda x, y: x * 2, [real, real]),
    (lambda x: x.sum(), [real]),
    (lambda x: [x, x * 3.0], [real]),
]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("function", range(len(SMOOTH)))
def test_right_derivatives_pass(function, fast):
    call, kinds = SMOOTH[function]
    inputs = tuple(kind(2, 2) for kind in kinds)
    assert gradcheck(call, inputs, fast_mode=fast, check_forward_ad=True, check_grad_dtypes=True)


@pytest.mark.parametrize("fast", [False, True])
def test_only_inputs_that_require_grad_are_moved(fast):
    index, x = torch.tensor([0, 1]), real(2, 2)
    before = x.tolist()
    assert gradcheck(lambda i, x, n: x[i] * n, (index, x, 3.0), fast_mode=fast)
    assert x.tolist() == before and x._version == 0


@pytest.mark.parametrize("fast", [False, True])
def test_other_layouts_sizes_and_inputs_on_the_way(fast):
    scattered = torch.randn(3, 2, dtype=D).mT.requires_grad_()
    for x in (scattered, real(0), torch.tensor(2.0, dtype=D, requires_grad=True), real(3) * 2):
        assert gradcheck(lambda x: x * x, x, fast_mode=fast, check_forward_ad=True)


def test_loose_tolerances_let_float32_pass():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match=r"^Input #0 requires gradient and is not a double prec"):
        assert gradcheck(lambda x: x * x, x, eps=1e-2, atol=0.1, rtol=0.1)


# --- what fails ------------------------------------------------------------------------------

SLOW = """\
Jacobian mismatch for output 1 with respect to input 1,
numerical:tensor([[2.0000, 0.0000],
        [0.0000, 2.0000]], dtype=torch.float64)
analytical:tensor([[3., 0.],
        [0., 3.]], dtype=torch.float64)
"""

FAST = """\

The above quantities relating the numerical and analytical jacobians are computed 
in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background 
about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:

Numerical:
 tensor([[2.0000, 0.0000],
        [0.0000, 2.0000]], dtype=torch.float64)
Analytical:
tensor([[3., 0.],
        [0., 3.]], dtype=torch.float64)

The max per-element difference (slow mode) is: 1."""


def test_both_jacobians_are_shown():
    x, y = (torch.tensor(v, dtype=D, requires_grad=True) for v in ([0.3, 0.7], [-0.2, 1.3]))
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x, y: (x, Thrice.apply(y)), (x, y))
    assert str(caught.value) == SLOW
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x, y: (x, Thrice.apply(y)), (x, y), fast_mode=True)
    first, numerical, analytical, rest = str(caught.value).split("\n", 3)
    assert first == "Jacobian mismatch for output 1 with respect to input 1,"
    assert float(analytical.removeprefix("analytical:")) == pytest.approx(
        1.5 * float(numerical.removeprefix("numerical:"))
    )
    assert rest.startswith(FAST)
    assert isinstance(caught.value, RuntimeError) and caught.value.__notes__


def test_the_random_vectors_of_fast_mode_are_pytorchs():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Thrice.apply, real(2, 2), fast_mode=True)
    numerical, analytical = str(caught.value).split("\n")[1:3]
    assert float(numerical.removeprefix("numerical:")) == pytest.approx(1.461303986993608)
    assert float(analytical.removeprefix("analytical:")) == pytest.approx(2.1919559805740474)


def test_parts_of_complex_numbers_are_named():
    z = complex_(2)
    with pytest.raises(
        GradcheckError, match=r"^While considering the imaginary part of complex ou"
    ):
        gradcheck(Thrice.apply, z)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Pushed.apply, z, check_forward_ad=True)
    assert str(caught.value).startswith(
        "While considering the imaginary part of complex inputs only, Jacobian computed with "
        "forward mode mismatch for output 0 with respect to input 0,\nnumerical:tensor([[0."
    )
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda z: Thrice.apply(z.real), z, fast_mode=True)
    assert str(caught.value).startswith("Jacobian mismatch for output 0 with respect to input 0,\n")


@pytest.mark.parametrize("fast", [False, True])
def test_wrong_tangents_fail(fast):
    x = real(3)
    assert gradcheck(Pushed.apply, x, fast_mode=fast)
    with pytest.raises(GradcheckError, match=r"^Jacobian computed with forward mode mismatch for"):
        gradcheck(Pushed.apply, x, check_forward_ad=True, check_backward_ad=False, fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_false_instead_of_an_exception(fast):
    x = real(2)
    options = {"raise_exception": False, "fast_mode": fast}
    assert gradcheck(Thrice.apply, x, **options) is False
    assert gradcheck(lambda x: x.detach() * 2, x, **options) is False
    assert gradcheck(Unsteady.apply, x, **options) is False
    with pytest.raises(ValueError, match="gradcheck expects at least one input tensor"):
        gradcheck(Thrice.apply, x.detach(), **options)


@pytest.mark.parametrize("fast", [False, True])
def test_a_result_without_gradient_must_be_constant(fast):
    assert gradcheck(lambda x: torch.ones(2, dtype=D), real(2), fast_mode=fast)
    assert gradcheck(lambda x: x.argmax(), real(2), fast_mode=fast)
    with pytest.raises(
        GradcheckError, match=r"^Numerical gradient for function expected to be zero"
    ):
        gradcheck(lambda x: x.detach() * 2, real(2), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_a_gradient_is_the_same_when_it_is_computed_again(fast):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Unsteady.apply, real(2), fast_mode=fast)
    text = str(caught.value)
    assert text.startswith(
        "Backward is not reentrant, i.e., running backward with same input and grad_output "
        "multiple times gives different values, although analytical gradient matches numerical "
        "gradient.The tolerance for nondeterminism was 0.0.\n\nNOTE: If your op relies on non-det"
    )
    assert text.endswith("module_test entry to have `gradcheck_nondet_tol=<tol>`\n")
    assert gradcheck(Unsteady.apply, real(2), fast_mode=fast, nondet_tol=1e-4)


def test_fast_mode_says_when_elements_are_close(monkeypatch):
    class Tilted(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 + 3e-4 * g.roll(1)

    x = torch.ones(1, dtype=D, requires_grad=True)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Tilted.apply, x, fast_mode=True, atol=2e-4, rtol=0)
    assert "Fast gradcheck failed but element-wise" not in str(caught.value)
    assert str(caught.value).count("The max per-element difference (slow mode) is: 0.0003") == 1


# --- several at once -------------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
def test_batches_of_cotangents_and_of_tangents(fast):
    options = {"fast_mode": fast, "check_batched_grad": True}
    both = {"check_forward_ad": True, "check_batched_forward_grad": True}
    for call, inputs in (
        (torch.matmul, (real(2, 3), real(3, 2))),
        (lambda x, y: (x.softmax(-1), y.cumsum(0)), (real(2, 3), real(2))),
        (lambda z: z * z.conj(), (complex_(2),)),
        (lambda x, y: x * 2, (real(2), real(2))),
    ):
        assert gradcheck(call, inputs, **options, **both)
        assert gradgradcheck(call, inputs, **options)


def test_a_backward_that_asks_for_numbers_has_no_batches():
    Particular.answer = lambda g: g * (2 if g.sum().item() < 100 else 3)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Particular.apply, real(2), check_batched_grad=True)
    text = str(caught.value)
    assert text.startswith("While computing batched gradients, got: ")
    assert text.endswith(
        "NOTE: [How to write vmap-compatible backward formulas]\n"
        "in the codebase for an explanation of how to fix this."
    )


# --- cotangents of zero, and none ------------------------------------------------------------


def test_a_gradient_is_a_multiple_of_the_cotangent():
    Particular.answer = lambda g: torch.full_like(g, 2.0) if g.eq(0).all() else g * 2
    with pytest.raises(GradcheckError, match=r"^backward not multiplied by grad_output"):
        gradcheck(Particular.apply, real(2))


def test_none_counts_as_zeros():
    Particular.answer = lambda g: None if g is None else g * 2
    assert gradcheck(Particular.apply, real(2))

    Particular.answer = lambda g: torch.ones(2, dtype=D) if g is None else g * 2
    with (
        pytest.raises(GradcheckError, match=r"^Expected all input grads to be undefined or zero"),
        pytest.warns(UserWarning, match=r"^Backwards compatibility: New undefined gradient"),
    ):
        gradcheck(Particular.apply, real(2))

    def refuse(g):
        if g is None:
            raise RuntimeError("a cotangent, please")
        return g * 2

    Particular.answer = refuse
    with (
        pytest.raises(GradcheckError, match=r"^Expected backward function to handle undefined out"),
        pytest.warns(UserWarning, match=r"^Backwards compatibility"),
    ):
        gradcheck(Particular.apply, real(2))
    assert gradcheck(Particular.apply, real(2), check_undefined_grad=False)


# --- what is not accepted --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "options", "text"),
    [
        (
            gradcheck,
            {"check_backward_ad": False},
            "Expected at least one of check_forward_ad or check_backward_ad to be True",
        ),
        (
            gradcheck,
            {"check_batched_forward_grad": True},
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
        ),
        (
            gradcheck,
            {"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True},
            "Setting check_batched_grad=True requires check_backward_ad to be True",
        ),
        (
            gradgradcheck,
            {"check_rev_over_rev": False},
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True",
        ),
        (
            gradgradcheck,
            {"check_rev_over_rev": False, "check_fwd_over_rev": True},
            "Setting check_undefined_grad=True requires check_rev_over_rev to be True",
        ),
    ],
)
def test_options_that_contradict_each_other(check, options, text):
    with pytest.raises(AssertionError) as caught:
        check(torch.sin, real(2), **options)
    assert str(caught.value) == text


def test_elements_that_share_memory_cannot_be_moved():
    x = torch.ones(1, dtype=D).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match=r"^The 0th input has a dimension with stride 0"):
        gradcheck(torch.sin, x)


def test_results_keep_shape_and_dtype():
    x = torch.ones(3, dtype=D, requires_grad=True)
    for function, text in (
        (lambda x: x if x[0] <= 1 else x[:2], "shape {}, but got: shapes torch.Size([3]) and tor"),
        (lambda x: x if x[0] <= 1 else x.float(), "dtype {}, but got: dtypes torch.float64 and t"),
    ):
        for fast, how in ((False, "on index (0,) by 1e-06"), (True, "by 1e-06")):
            with pytest.raises(AssertionError) as caught:
                gradcheck(function, x, fast_mode=fast)
            wanted = text.format(f"when inputs are perturbed {how}")
            assert wanted in str(caught.value)
            assert x.tolist() == [1, 1, 1]


# --- second derivatives ----------------------------------------------------------------------


@pytest.mark.parametrize("fast", [False, True])
def test_second_derivatives(fast):
    x, y, z = real(2, 2), real(2, 2), complex_(2)
    options = {"fast_mode": fast, "check_fwd_over_rev": True}
    assert gradgradcheck(lambda x: x**3, x, **options)
    assert gradgradcheck(lambda x, y: (x * y, x.sin()), (x, y), **options)
    assert gradgradcheck(lambda z: z * z * z, z, **options)
    assert gradgradcheck(lambda x: x**3, x, torch.ones(2, 2, dtype=D, requires_grad=True))
    assert gradgradcheck(lambda x: x**3, x, torch.ones(2, 2, dtype=D))
    assert gradgradcheck(lambda x: x**3, x, gen_non_contig_grad_outputs=True, **options)
    assert gradgradcheck(lambda x: (x.argmax(), x**2), x, **options)
    assert gradgradcheck(
        lambda x: x**3,
        x,
        check_fwd_over_rev=True,
        check_rev_over_rev=False,
        check_undefined_grad=False,
    )


def test_wrong_second_derivatives_fail():
    class Cubed(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * g * x.detach() ** 2

    assert gradcheck(Cubed.apply, real(3))
    with pytest.raises(GradcheckError, match=r"^Jacobian mismatch for output 0 with respect"):
        gradgradcheck(Cubed.apply, real(3))
    assert not gradgradcheck(Cubed.apply, real(3), raise_exception=False)


def test_nothing_to_differentiate_twice():
    with pytest.raises(TypeError, match="no output of func requires grad"):
        gradgradcheck(lambda x: x.detach(), real(2))


# --- names, and the differences themselves ---------------------------------------------------


def test_the_name_is_that_of_a_function_and_of_a_file():
    from tapegrad.autograd.gradcheck import gradcheck as function

    assert torch.autograd.gradcheck(torch.sin, real(2))
    assert gradcheck is function
    assert GradcheckError.__module__ == "torch.autograd.gradcheck"
    assert issubclass(GradcheckError, RuntimeError)


def test_central_differences():
    x = np.array([1.0, 2.0])
    (slope,) = difference_along(lambda: [x**2], x, np.array([1.0, 10.0]), 1e-5)
    np.testing.assert_allclose(slope, [2, 40], rtol=1e-9)
    (jacobian,) = numerical_jacobian(lambda: [np.outer(x, x)], x, 1e-6)
    np.testing.assert_allclose(jacobian, [[2, 2, 2, 0], [0, 1, 1, 4]], atol=1e-9)
    assert x.tolist() == [1, 2]
    z = np.array([1 + 2j])
    (jacobian,) = numerical_jacobian(lambda: [np.abs(z) ** 2], z, 1e-6)
    np.testing.assert_allclose(jacobian, [[2 + 4j]], atol=1e-9)


def test_jacobians_by_themselves():
    from tapegrad.autograd.gradcheck import get_analytical_jacobian, get_numerical_jacobian

    x, y = (torch.tensor(v, dtype=D, requires_grad=True) for v in ([1.0, 2.0], [3.0]))
    with pytest.warns(FutureWarning, match="^`get_numerical_jacobian` was part of PyTorch's priv"):
        found = get_numerical_jacobian(lambda given: given[0] * given[1], (x, y))
    with pytest.warns(FutureWarning, match="^`get_analytical_jacobian` was part of PyTorch's pri"):
        exact, *rest = get_analytical_jacobian((x, y), x * y)
    assert [each.tolist() for each in exact] == [[[3, 0], [0, 3]], [[1, 2]]]
    assert rest == [True, True, True]
    for a, b in zip(found, exact, strict=True):
        np.testing.assert_allclose(a.tolist(), b.tolist(), atol=1e-9)
    with (
        pytest.warns(FutureWarning),
        pytest.raises(ValueError, match=r"^Expected grad_out to be 1.0. get_numerical_jacobian no"),
    ):
        get_numerical_jacobian(lambda given: given[0], (x,), grad_out=2.0)


def test_a_check_leaves_its_inputs_alone():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x * 2
    assert gradcheck(torch.sin, y)
    assert x.grad is None and not y.retains_grad
    with pytest.raises(GradcheckError):
        gradcheck(lambda x: x * x.detach(), x)
    assert x.tolist() == [1, 2] and x.grad is None


def test_a_hook_that_needs_a_gradient_is_found():
    def f(x):
        y = x.clone()
        y.register_hook(lambda g: g * 2 / 2)
        return y

    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, x, check_undefined_grad=False)

    def g(x):
        y = x.clone()
        y.register_hook(check)
        return y

    def check(g):
        if g is None:
            raise RuntimeError("there is none")

    with pytest.warns(UserWarning, match="New undefined gradient support checking feature"):
        with pytest.raises(RuntimeError, match="Expected backward function to handle undefined"):
            torch.autograd.gradcheck(g, x)
