"""Weights that are computed: parametrisations, norms by hooks, functional calls, fusions."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.func import functional_call, stack_module_state
from tapegrad.nn.utils import parametrizations, parametrize
from tests.messages import raises


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).t()


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


def test_a_parametrised_weight_is_computed_when_it_is_read():
    layer = nn.Linear(3, 3)
    same = parametrize.register_parametrization(layer, "weight", Symmetric())
    assert same is layer
    assert torch.equal(layer.weight, layer.weight.t())
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None
    assert repr(layer) == (
        "ParametrizedLinear(\n  in_features=3, out_features=3, bias=True\n"
        "  (parametrizations): ModuleDict(\n    (weight): ParametrizationList(\n"
        "      (0): Symmetric()\n    )\n  )\n)"
    )


def test_a_parametrised_weight_is_assigned_to_through_the_right_inverse():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    layer.weight = torch.full((2, 2), 6.0)
    assert layer.parametrizations.weight.original.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert layer.weight.tolist() == [[6.0, 6.0], [6.0, 6.0]]
    parametrize.register_parametrization(layer, "weight", Symmetric())
    with raises(RuntimeError, "parametrization Symmetric does not implement right_inverse."):
        layer.weight = torch.ones(2, 2)


def test_a_copy_of_a_parametrised_module_stands_alone():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    twin = copy.deepcopy(layer)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert isinstance(layer.weight, nn.Parameter)
    assert parametrize.is_parametrized(twin, "weight")
    assert torch.equal(twin.weight, layer.weight)
    with pytest.raises(RuntimeError, match="is only supported through state_dict"):
        pickle.dumps(twin)


def test_a_parametrisation_may_not_change_shape_or_dtype():
    class Sum(nn.Module):
        def forward(self, x):
            return x.sum()

    layer = nn.Linear(2, 2)
    message = (
        "Registering a parametrization may not change the shape of the tensor, unless `unsafe` "
        "flag is enabled.\nunparametrized shape: torch.Size([2, 2])\n"
        "parametrized shape: torch.Size([])"
    )
    with raises(ValueError, message):
        parametrize.register_parametrization(layer, "weight", Sum())
    assert list(layer.state_dict()) == ["weight", "bias"]
    with pytest.raises(ValueError, match="parametrized element with name 'weigh'"):
        parametrize.register_parametrization(layer, "weigh", Sum())


def test_within_cached_a_weight_is_computed_once():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight


def test_weight_norm_splits_length_and_direction():
    layer = nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    parametrizations.weight_norm(layer)
    assert layer.parametrizations.weight.original0.shape == (2, 1)
    assert torch.allclose(layer.weight, before)
    with pytest.warns(FutureWarning, match="deprecated in favor of"):
        old = nn.utils.weight_norm(nn.Linear(3, 2))
    assert list(old.state_dict()) == ["bias", "weight_g", "weight_v"]
    layer.load_state_dict(old.state_dict())
    assert torch.equal(layer(torch.ones(1, 3)), old(torch.ones(1, 3)))
    assert list(nn.utils.remove_weight_norm(old).state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found in Linear"):
        nn.utils.remove_weight_norm(old)


def test_spectral_norm_finds_the_largest_singular_value():
    torch.manual_seed(0)
    layer = parametrizations.spectral_norm(nn.Linear(3, 2))
    assert layer.parametrizations.weight[0]._u.tolist() == pytest.approx([0.785607, -0.618725])
    assert layer.weight[0].tolist() == pytest.approx([-0.006573, 0.470961, -0.722570], abs=1e-5)
    layer.eval()
    assert torch.equal(layer.weight, layer.weight)


def test_spectral_norm_by_hook_iterates_in_each_forward():
    torch.manual_seed(0)
    layer = nn.utils.spectral_norm(nn.Linear(3, 2))
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    assert layer.weight_u.tolist() == pytest.approx([-0.6128, -0.7902], abs=1e-4)
    layer(torch.ones(1, 3))
    assert layer.weight_u.tolist() == pytest.approx([-0.6007, -0.7995], abs=1e-4)
    assert layer.weight[0].tolist() == pytest.approx([-0.0114, 0.8183, -1.2554], abs=1e-4)
    assert layer.state_dict()._metadata[""]["spectral_norm"] == {"weight.version": 1}
    assert list(nn.utils.remove_spectral_norm(layer).state_dict()) == ["bias", "weight"]


def test_a_functional_call_leaves_the_module_as_it_was():
    layer = nn.Linear(3, 2)
    before = layer.weight
    weight = torch.ones(2, 3, requires_grad=True)
    y = functional_call(layer, {"weight": weight, "bias": torch.zeros(2)}, torch.ones(1, 3))
    y.sum().backward()
    assert y.tolist() == [[3.0, 3.0]]
    assert weight.grad.tolist() == [[1.0] * 3] * 2
    assert layer.weight is before
    message = "Error(s) in reparametrizing for Linear:\n\tMissing key(s): 'bias'."
    with raises(RuntimeError, message):
        functional_call(layer, {"weight": weight}, torch.ones(1, 3), strict=True)
    with raises(AttributeError, "Linear has no attribute `b`"):
        functional_call(layer, {"b.c": weight}, torch.ones(1, 3))
    with raises(TypeError, "linear(): argument 'input' (position 1) must be Tensor, not int"):
        functional_call(layer, {"weight": weight}, 3)
    assert layer.weight is before


def test_a_functional_call_ties_what_is_tied():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    new = {"0.weight": 2 * torch.eye(2)}
    assert functional_call(model, new, torch.ones(1, 2)).tolist() == [[4.0, 4.0]]
    y = functional_call(model, new, torch.ones(1, 2), tie_weights=False)
    assert torch.equal(y, 2 * model[0](torch.ones(1, 2)))
    both = {"0.weight": torch.eye(2), "1.weight": torch.ones(2, 2)}
    message = (
        "functional_call got multiple values for keys ['0.weight', '1.weight'], which are tied. "
        "Consider using tie_weights=False"
    )
    with raises(ValueError, message):
        functional_call(model, both, torch.ones(1, 2))


def test_a_functional_call_moves_the_given_buffers():
    norm = nn.BatchNorm1d(2)
    tensors = {name: tensor.clone() for name, tensor in norm.state_dict().items()}
    functional_call(norm, tensors, torch.tensor([[1.0, 0.0], [3.0, 4.0]]))
    assert tensors["running_mean"].tolist() == pytest.approx([0.2, 0.2])
    assert tensors["num_batches_tracked"].item() == 1
    assert norm.running_mean.tolist() == [0.0, 0.0]


def test_models_of_one_kind_are_stacked():
    parameters, buffers = stack_module_state([nn.Linear(2, 1), nn.Linear(2, 1)])
    assert parameters["weight"].shape == (2, 1, 2)
    assert parameters["weight"].is_leaf and parameters["weight"].requires_grad
    assert buffers == {}
    with raises(RuntimeError, "stack_module_state: Expected all models to be of the same class."):
        stack_module_state([nn.Linear(2, 1), nn.ReLU()])


@pytest.mark.parametrize("bias", [True, False])
def test_a_batch_norm_folds_into_the_layer_before_it(bias):
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(4)
    norm(3 * torch.randn(5, 4, 2, 2) + 1)
    x = torch.randn(2, 3, 6, 6)
    for conv in (nn.Conv2d(3, 4, 3, bias=bias), nn.ConvTranspose2d(3, 4, 3, bias=bias)):
        fused = nn.utils.fuse_conv_bn_eval(conv.eval(), norm.eval(), conv.transposed)
        assert torch.allclose(fused(x), norm(conv(x)), atol=1e-5)
    with raises(AssertionError, "Fusion only for eval!"):
        nn.utils.fuse_conv_bn_eval(conv.train(), norm)


def test_a_skipped_initialisation_takes_no_random_numbers():
    torch.manual_seed(0)
    nn.utils.skip_init(nn.Linear, 100, 100)
    after = torch.rand(1)
    torch.manual_seed(0)
    assert torch.equal(torch.rand(1), after)
    with raises(RuntimeError, "Module must support a 'device' arg to skip initialization"):
        nn.utils.skip_init(nn.ReLU)


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(3, 2), (2, 3), (3, 3)])
@pytest.mark.parametrize("trivial", [True, False])
def test_orthogonal_weights_stay_orthogonal(kind, sizes, trivial):
    torch.manual_seed(0)
    layer = nn.Linear(*sizes)
    parametrizations.orthogonal(layer, orthogonal_map=kind, use_trivialization=trivial)
    original = layer.parametrizations.weight.original
    (layer.weight**3).sum().backward()
    original.data = original - 0.1 * original.grad
    weight = layer.weight
    square = weight @ weight.t() if sizes[0] >= sizes[1] else weight.t() @ weight
    assert torch.allclose(square, torch.eye(min(sizes)), atol=1e-5)


def test_orthogonal_weights_begin_as_in_pytorch():
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(nn.Linear(3, 2))
    start = [-0.007620453834533691, 0.5460197925567627, -0.8377375602722168]
    assert layer.weight[0].tolist() == pytest.approx(start, abs=1e-5)
    assert layer.parametrizations.weight.original.tolist() == [[-1, 0, 0], [0, -1, 0]]
    torch.manual_seed(0)
    layer = parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley")
    layer.weight = torch.eye(3)
    assert torch.equal(layer.weight, torch.eye(3))
    with raises(
        ValueError, "Expected a matrix or batch of matrices. Got a tensor of 1 dimensions."
    ):
        parametrizations.orthogonal(nn.Linear(2, 2), "bias")
    message = 'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: x'
    with raises(ValueError, message):
        parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="x")
