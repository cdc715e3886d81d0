"""The old package `functorch`: the same functions, with a warning each."""

import subprocess
import sys

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.func import functorch
from tests.messages import raises

X = torch.ones(3, 2)
quiet = pytest.mark.filterwarnings("ignore:We've integrated functorch")


@pytest.mark.parametrize(("name", "instead"), [("vmap", "torch.vmap"), ("grad", "torch.func.grad")])
def test_functions_work_and_name_their_successor(name, instead):
    with pytest.warns(
        FutureWarning, match=f"`functorch.{name}` is .* use `{instead}` instead"
    ) as seen:
        function = getattr(functorch, name)(lambda x: x.sum())
    assert seen[0].filename == __file__
    assert function(X).tolist() == ([2.0] * 3 if name == "vmap" else [[1.0, 1.0]] * 3)


@quiet
def test_a_module_as_a_function_of_its_parameters():
    layer = nn.Linear(2, 1)
    f, parameters = functorch.make_functional(layer)
    assert [type(p) for p in parameters] == [nn.Parameter] * 2
    assert torch.equal(f(parameters, X), layer(X)) and parameters[0] is not layer.weight
    assert f(tuple(2 * p for p in parameters), X).tolist() == (2 * layer(X)).tolist()
    inner = "(stateless_model): Linear(in_features=2, out_features=1, bias=True)"
    assert repr(f) == f"FunctionalModule(\n  {inner}\n)"
    assert not list(f.parameters())
    _, constants = functorch.make_functional(layer, disable_autograd_tracking=True)
    assert [p.requires_grad for p in constants] == [False, False]
    message = (
        "make_functional(model): `model` has buffers. Please use "
        "make_functional_with_buffers(model) instead."
    )
    with raises(RuntimeError, message):
        functorch.make_functional(nn.BatchNorm1d(2))


@quiet
def test_buffers_are_arguments_and_are_written():
    layer = nn.BatchNorm1d(2)
    f, parameters, buffers = functorch.make_functional_with_buffers(layer)
    f(parameters, buffers, X)
    assert buffers[2].item() == 1 and buffers[0].tolist() == pytest.approx([0.1, 0.1])
    assert layer.num_batches_tracked.item() == 0


@quiet
def test_tied_weights_are_one_parameter():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    f, parameters = functorch.make_functional(model)
    assert len(parameters) == 1
    assert f((2 * torch.eye(2),), X).tolist() == [[4.0, 4.0]] * 3


@quiet
def test_an_ensemble():
    models = [nn.Linear(2, 1) for _ in range(3)]
    f, parameters, buffers = functorch.combine_state_for_ensemble(models)
    each = torch.vmap(f, in_dims=(0, 0, None))(parameters, buffers, X)
    assert torch.allclose(each, torch.stack([model(X) for model in models]))
    with raises(RuntimeError, "combine_state_for_ensemble: Expected at least one model, got 0."):
        functorch.combine_state_for_ensemble([])


def test_a_script_may_import_it():
    program = (
        "from tapegrad import compat; compat.install()\n"
        "import warnings; warnings.simplefilter('ignore')\n"
        "import torch; from functorch import grad, vmap\n"
        "print(vmap(grad(torch.sin))(torch.zeros(2)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "tensor([1., 1.])\n", done.stderr


def test_its_modules():
    from tapegrad.func.functorch.experimental import control_flow

    assert functorch.einops.rearrange is torch.func.rearrange
    assert functorch.experimental.functionalize is torch.func.functionalize
    assert control_flow.cond is torch.cond
    with raises(AttributeError, "module 'torch.func.functorch' has no attribute 'dim'"):
        functorch.dim  # noqa: B018
