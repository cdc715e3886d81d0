import pytest

import tapegrad as torch
from tapegrad.autograd.graph import save_on_cpu, saved_tensors_hooks
from tapegrad.func import grad, grad_and_value, hessian, jacrev, jvp, linearize, vjp, vmap
from tapegrad.utils.checkpoint import checkpoint

REFUSED = r"torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks"
TRANSFORMS = {
    "grad": grad,
    "grad_and_value": grad_and_value,
    "vjp": lambda f: lambda x: vjp(f, x),
    "jacrev": jacrev,
    "hessian": hessian,
}


def hooked(x):
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        return (x * x).sum()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_hooks_on_saved_tensors_are_refused_inside_transforms_that_record(name):
    x = torch.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError) as error:
        TRANSFORMS[name](hooked)(x)
    assert str(error.value).startswith(REFUSED)
    with pytest.raises(RuntimeError) as error, save_on_cpu():
        TRANSFORMS[name](lambda x: x.sum())(x)
    assert str(error.value).startswith(REFUSED)
    assert hooked(x).item() == 5.0  # outside they are on again


def test_checkpoints_are_refused_there_too():
    with pytest.raises(RuntimeError) as error:
        grad(lambda x: checkpoint(torch.sin, x, use_reentrant=False))(torch.tensor(1.0))
    assert str(error.value).startswith(REFUSED)


def test_other_transforms_take_hooks():
    x = torch.tensor([1.0, 2.0])
    assert jvp(hooked, (x,), (x,))[1].item() == 10.0
    assert vmap(hooked)(torch.ones(3, 2)).tolist() == [2.0, 2.0, 2.0]
    assert linearize(hooked, x)[1](x).item() == 10.0


def test_a_gradient_of_a_gradient_by_another_variable_is_of_no_graph():
    x, a = torch.tensor([1.0, 2.0]), torch.tensor(3.0)
    mixed = grad(lambda a: grad(lambda x: (a * x).sin().sum())(x).sum())(a)
    assert torch.allclose(mixed, ((a * x).cos() - a * x * (a * x).sin()).sum())
    assert not mixed.requires_grad
    pulled = grad(lambda a: vjp(lambda x: (a * x).sin(), x)[1](x)[0].sum())(a)
    assert not pulled.requires_grad


# --- arguments that are written ---


def written(x, y):
    y.copy_(x)
    return y


def view_of_written(x, y):
    part = y[:1]
    y.mul_(x)
    return part


def test_a_result_that_was_written_into_an_argument_has_its_derivative():
    x = torch.tensor([1.0, 2.0])
    y = torch.zeros(2)
    assert jacrev(written)(x, y).tolist() == [[1, 0], [0, 1]]
    assert y.tolist() == [1, 2] and not y.requires_grad
    assert jacrev(view_of_written)(x, y).tolist() == [[1, 0]]
    number = torch.tensor(3.0)
    assert grad_and_value(written)(number, torch.tensor(0.0)) == (1, 3)
    assert torch.equal(vmap(jacrev(written))(torch.ones(4, 2), torch.zeros(4, 2))[3], torch.eye(2))


def test_inside_vmap_an_argument_of_a_gradient_may_be_written():
    def f(x, y):
        y.mul_(x)
        return (y * y).sum()

    x, y = torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [4.0]])
    assert vmap(grad(f))(x, y.clone()).tolist() == [[18], [64]]
    assert grad(lambda x, y: vmap(f)(x, y).sum())(x, y.clone()).tolist() == [[18], [64]]


def test_a_jacobian_row_by_row_needs_no_batch():
    class Dynamic(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return 2 * g if g.nonzero().numel() else g

    assert torch.equal(jacrev(Dynamic.apply, chunk_size=1)(torch.ones(3)), 2 * torch.eye(3))
    with pytest.raises(RuntimeError, match="vmap"):
        jacrev(Dynamic.apply, chunk_size=2)(torch.ones(3))


# --- in inference mode --------------------------------------------------------------------------


def sum_of_cubes(x):
    return (x**3).sum()


DIRECTION = torch.tensor([1.0, -1.0])
IN_INFERENCE = {
    "grad": torch.func.grad(sum_of_cubes),
    "vjp": lambda x: torch.func.vjp(torch.sin, x)[1](DIRECTION)[0],
    "jvp": lambda x: torch.func.jvp(torch.sin, (x,), (DIRECTION,))[1],
    "linearize": lambda x: torch.func.linearize(torch.sin, x)[1](DIRECTION),
    "jacrev": torch.func.jacrev(torch.sin),
    "jacfwd": torch.func.jacfwd(torch.sin),
    "hessian": torch.func.hessian(sum_of_cubes),
    "vmap of grad": torch.func.vmap(torch.func.grad(lambda x: x.exp())),
    "grad of grad": torch.func.vmap(torch.func.grad(torch.func.grad(lambda x: x**3))),
}


@pytest.mark.parametrize("name", IN_INFERENCE)
def test_derivatives_in_inference_mode_are_those_of_elsewhere(name):
    x = torch.tensor([0.5, 2.0])
    expected = IN_INFERENCE[name](x)
    with torch.inference_mode():
        for given in (x, x.clone()):
            found = IN_INFERENCE[name](given)
            assert found.tolist() == expected.tolist() and not found.is_inference()
        assert (x * 2).is_inference()
