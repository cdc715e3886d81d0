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
