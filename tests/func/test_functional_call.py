"""Modules as functions of their tensors: ties, names, what is left afterwards."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.func import functional_call, grad, stack_module_state, vmap
from tests.messages import raises

X = torch.ones(1, 2)


W = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


EYE = torch.eye(2)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2, bias=False)
        self.b = nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight
        self.register_buffer("s", torch.ones(2))
        self.register_buffer("t", self.s)
        self.plain, self.nothing = torch.ones(2), None

    def forward(self, x):
        return self.b(self.a(x)) * self.s * self.t * self.plain


@pytest.mark.parametrize("name", ["a.weight", "b.weight"])
def test_a_tied_weight_is_replaced_under_both_names(name):
    model = Tied()
    assert functional_call(model, {name: W}, X).tolist() == [[17.0, 37.0]]
    assert functional_call(model, {name: W, "s": W[0]}, X, strict=True).tolist() == [[17.0, 148.0]]
    assert model.a.weight is model.b.weight
    slope = grad(lambda w: functional_call(model, {name: w}, X).sum())(W)
    assert slope.tolist() == [[7.0, 11.0], [9.0, 13.0]]


def test_tied_weights_are_one_tensor():
    message = (
        "functional_call got multiple values for keys ['a.weight', 'b.weight'], which are tied. "
        "Consider using tie_weights=False"
    )
    with raises(ValueError, message):
        functional_call(Tied(), {"a.weight": W, "b.weight": EYE}, X)
    apart = {"a.weight": W, "b.weight": EYE}
    assert functional_call(Tied(), apart, X, tie_weights=False).tolist() == [[3.0, 7.0]]


def test_models_with_ties_in_one_batch():
    models = [Tied() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    assert list(parameters) == ["a.weight"] and list(buffers) == ["s"]
    out = vmap(lambda p, b: functional_call(models[0], (p, b), (X,)))(parameters, buffers)
    assert torch.allclose(out, torch.stack([model(X) for model in models]))


def test_attributes_that_are_tensors_can_be_replaced():
    model = Tied()
    twice = functional_call(model, {"a.weight": EYE, "plain": torch.full((2,), 2.0)}, X)
    assert twice.tolist() == [[2.0, 2.0]] and model.plain.tolist() == [1.0, 1.0]
    functional_call(model, {"nothing": EYE}, X)
    assert model.nothing is None


def test_names_of_no_tensor():
    model = Tied()
    with raises(KeyError, "'tensor name can\\'t be empty string \"\"'"):
        functional_call(model, {"": EYE}, X)
    with pytest.raises(
        TypeError, match=r"^attribute `a`: Linear\(.*\) is not an instance of torch\.T"
    ):
        functional_call(model, {"a": EYE}, X)
    assert functional_call(model, {"a.weight": EYE, "unknown": W}, X).tolist() == [[1.0, 1.0]]


def test_an_error_in_the_module_leaves_it_as_it_was():
    model = Tied()
    before = model.a.weight
    with pytest.raises(RuntimeError):
        functional_call(model, {"a.weight": W}, torch.ones(3))
    assert model.a.weight is before and model.b.weight is before


class Sorted(torch.autograd.Function):
    """A custom function that gives a named tuple."""

    @staticmethod
    def forward(a):
        return a.sort()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(output[1])

    @staticmethod
    def backward(ctx, g, _):
        (i,) = ctx.saved_tensors
        return torch.zeros_like(g).scatter(0, i, g)


def test_a_custom_function_may_give_a_named_tuple():
    y = torch.tensor([3.0, 0.0], requires_grad=True)
    result = Sorted.apply(y)
    assert type(result) is tuple
    assert torch.autograd.grad(result[0][1], y)[0].tolist() == [1.0, 0.0]
    assert grad(lambda a: Sorted.apply(a)[0][0])(y.detach()).tolist() == [0.0, 1.0]


def test_models_of_one_kind_are_stacked():
    parameters, buffers = stack_module_state([nn.Linear(2, 1), nn.Linear(2, 1)])
    assert parameters["weight"].shape == (2, 1, 2)
    assert parameters["weight"].is_leaf and parameters["weight"].requires_grad
    assert buffers == {}
    with raises(RuntimeError, "stack_module_state: Expected all models to be of the same class."):
        stack_module_state([nn.Linear(2, 1), nn.ReLU()])
    models = [nn.BatchNorm1d(2), nn.BatchNorm1d(2)]
    models[1].running_mean.requires_grad_()
    message = "Expected running_mean from each model to have the same .requires_grad"
    with raises(RuntimeError, message):
        stack_module_state(models)


class Extra(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x):
        names = [name for name, _ in self.named_parameters()]
        return self.layer(x), getattr(self, "scale", None), names


def test_names_that_a_module_has_not_are_attributes_during_the_call():
    model = Extra()
    given = {"scale": torch.tensor(3.0), "layer.more": nn.Parameter(torch.ones(1))}
    _, scale, names = functional_call(model, given, X)
    assert scale is given["scale"] and names == ["layer.weight", "layer.bias", "layer.more"]
    assert not hasattr(model, "scale") and not hasattr(model.layer, "more")


def test_none_takes_a_tensor_away():
    model = Extra()
    y, _, names = functional_call(model, {"layer.weight": torch.ones(1, 2), "layer.bias": None}, X)
    assert y.tolist() == [[2.0]] and names == ["layer.weight"] and model.layer.bias is not None


def test_what_is_missing_or_unknown_is_named_in_order():
    message = (
        "Error(s) in reparametrizing for Extra:\n\tUnexpected key(s): 'a', 'b'.\n\t"
        "Missing key(s): 'layer.bias', 'layer.weight'."
    )
    with raises(RuntimeError, message):
        functional_call(Extra(), {"b": X, "a": X}, X, strict=True)
