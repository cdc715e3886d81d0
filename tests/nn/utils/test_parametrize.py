"""Weights that are computed when they are read."""

import copy
import pickle

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.nn.utils import parametrize
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


class Inverse(nn.Module):
    def __init__(self, inverse):
        super().__init__()
        self.right_inverse = inverse

    def forward(self, x, *others):
        return x


GIVES = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "


@pytest.mark.parametrize(
    ("inverse", "text"),
    [
        (lambda w: None, GIVES + "NoneType"),
        (lambda w: (None, w), GIVES + "element 0 of the sequence with type NoneType."),
        (
            lambda w: w.double(),
            "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
            "original.dtype: torch.float32\nright_inverse(original).dtype: torch.float64",
        ),
        (
            lambda w: w[:1],
            "Registering a parametrization may not change the shape of the tensor, unless `unsafe` "
            "flag is enabled.\nunparametrized shape: torch.Size([2, 2])\n"
            "parametrized shape: torch.Size([1, 2])",
        ),
    ],
)
def test_a_right_inverse_that_does_not_fit_changes_nothing(inverse, text):
    layer = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    with raises(ValueError, text):
        parametrize.register_parametrization(layer, "weight", Inverse(inverse))
    assert torch.equal(layer.weight, before) and not parametrize.is_parametrized(layer)


def test_the_right_inverse_of_a_second_parametrization_is_checked():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Identity())
    same = (
        "The tensor returned by parametrization.right_inverse must have the same dtype as "
        "module.weight, unless the `unsafe` flag is enabled.\nmodule.weight.dtype: torch.float32\n"
        "returned dtype: torch.bool"
    )
    for inverse, text in (
        (lambda w: (w, w), "parametrization.right_inverse must return a tensor. Got: tuple"),
        (lambda w: w.bool(), same),
    ):
        with raises(ValueError, text):
            parametrize.register_parametrization(layer, "weight", Inverse(inverse))
    assert len(layer.parametrizations.weight) == 1


def test_what_is_assigned_keeps_the_dtype_and_the_number_of_tensors():
    layer = parametrize.register_parametrization(
        nn.Linear(2, 2), "weight", Inverse(lambda w: w.double() if w.sum() == 0 else w)
    )
    with raises(
        ValueError,
        "The tensor returned by `right_inverse` has dtype torch.float64 while `original` has dtype "
        "torch.float32",
    ):
        layer.weight = torch.zeros(2, 2)
    layer = parametrize.register_parametrization(
        nn.Linear(2, 2), "weight", Inverse(lambda w: (w,) if w.sum() == 0 else (w, w))
    )
    with raises(
        ValueError,
        "'right_inverse' must return a sequence of tensors of length 2. "
        "Got a sequence of length 1.",
    ):
        layer.weight = torch.zeros(2, 2)


def test_the_right_inverse_is_tried_on_what_the_parametrization_gives():
    class Halved(nn.Module):
        def forward(self, x):
            return x.clamp(-0.5, 0.5)

        def right_inverse(self, x):
            assert x.abs().max() <= 0.5
            return x

    layer = nn.Linear(2, 2)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    with torch.no_grad():
        layer.parametrizations.weight.original.fill_(3.0)
    parametrize.register_parametrization(layer, "weight", Halved())
    assert layer.weight.max() == 0.5
