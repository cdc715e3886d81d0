"""Scripted functions and modules run as the Python they are, and are what programs ask of them."""

import copy
import inspect
import pickle

import pytest

import tapegrad as torch
from tapegrad import nn


@torch.jit.script
def scaled(x, factor: float = 2.0):
    "x times a factor."
    return x * factor


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 1)])
        self.norm = nn.BatchNorm1d(2)
        self.factor = 2

    def forward(self, x):
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x)
        return self.helped(x)

    def helped(self, x):
        return x * self.factor

    @torch.jit.export
    def exported(self):
        return torch.jit.is_scripting()

    @torch.jit.ignore
    def ignored(self):
        return torch.jit.is_scripting()


def test_a_function_keeps_what_it_has():
    assert scaled.__name__ == "scaled" and scaled.__doc__ == "x times a factor."
    assert list(inspect.signature(scaled).parameters) == ["x", "factor"]
    assert scaled.code.startswith("@torch.jit.script\ndef scaled(x")
    assert scaled.qualified_name.endswith(".scaled")
    assert scaled(torch.ones(2), factor=3).tolist() == [3, 3]
    assert torch.jit.script(scaled) is scaled


def test_a_function_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(scaled)) is scaled
    again = pickle.loads(pickle.dumps(torch.jit.script(copy.copy)))
    assert again._function is copy.copy


def test_its_graph_says_how_to_get_one():
    with pytest.raises(NotImplementedError, match="makes no TorchScript graph") as caught:
        scaled.graph  # noqa: B018
    assert any("torch.jit.trace" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("thing", "kind", "text"),
    [
        (lambda x: x, RuntimeError, "Expected a single top-level function: "),
        (nn.Linear, RuntimeError, "cannot be compiled since it inherits from nn.Module"),
        (3, TypeError, "<class 'int'> is a built-in class"),
    ],
)
def test_what_cannot_be_scripted(thing, kind, text):
    with pytest.raises(kind, match=text):
        torch.jit.script(thing)


def test_a_module_shares_its_parameters_and_nothing_else():
    net = Net()
    scripted = torch.jit.script(net)
    assert isinstance(scripted, torch.jit.ScriptModule) and isinstance(scripted, nn.Module)
    assert not isinstance(scripted, Net) and scripted.original_name == "Net"
    assert list(scripted.state_dict()) == list(net.state_dict())
    assert scripted.layers[0].weight is net.layers[0].weight
    assert scripted.norm.running_mean is net.norm.running_mean
    scripted.eval()
    scripted.factor = 5
    assert net.training and net.norm.training and not scripted.norm.training
    assert net.factor == 2 and scripted.helped(torch.ones(1)).item() == 5


def test_a_module_prints_as_pytorchs():
    assert repr(torch.jit.script(nn.Sequential(nn.ReLU()))) == (
        "RecursiveScriptModule(\n"
        "  original_name=Sequential\n"
        "  (0): RecursiveScriptModule(original_name=ReLU)\n"
        ")"
    )


def test_training_a_scripted_module_is_training_the_module():
    torch.manual_seed(0)
    net = Net()
    twin = copy.deepcopy(net)
    scripted = torch.jit.script(net)
    x = torch.randn(8, 2)
    for module, trained in ((twin, twin), (scripted, net)):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            module(x).square().mean().backward()
            optimizer.step()
        assert trained.layers[0].weight.grad is not None
    for a, b in zip(net.parameters(), twin.parameters(), strict=True):
        assert torch.equal(a, b)
    assert torch.equal(net.norm.running_mean, twin.norm.running_mean)


def test_is_scripting_is_true_inside():
    scripted = torch.jit.script(Net())
    assert scripted.exported() is True and scripted.ignored() is False
    assert torch.jit.is_scripting() is False


def test_methods_and_attributes_of_the_class_are_there():
    scripted = torch.jit.script(Net())
    assert "for layer in self.layers" in scripted.code == scripted.forward.code
    assert (
        len(scripted.layers) == 2 and [m.original_name for m in scripted.layers] == ["Linear"] * 2
    )
    with pytest.raises(
        AttributeError, match="'RecursiveScriptModule' object has no attribute 'no'"
    ):
        scripted.no  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'code'"):
        scripted.layers.code  # noqa: B018


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m: setattr(m, "norm", nn.ReLU()), "Cannot re-assign modules in a ScriptModule"),
        (lambda m: m.add_module("other", nn.ReLU()), "Cannot re-assign modules in a ScriptModule"),
        (lambda m: m.register_parameter("p", None), "Can't add a new parameter after"),
        (lambda m: delattr(m, "norm"), "cannot delete methods or parameters"),
    ],
)
def test_changes_that_pytorch_refuses(change, text):
    with pytest.raises(RuntimeError, match=text):
        change(torch.jit.script(Net()))


def test_copies_have_parameters_of_their_own_and_pickles_too():
    net = torch.jit.script(Net().eval())
    x = torch.randn(4, 2)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert torch.equal(other(x), net(x))
        assert other.layers[0].weight is not net.layers[0].weight
        assert isinstance(other.layers, torch.jit.RecursiveScriptModule)
    assert copy.copy(net).layers[0].weight is net.layers[0].weight


def test_an_attribute_has_its_value():
    class Old(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.n = torch.jit.Attribute(3, int)

        @torch.jit.script_method
        def forward(self, x):
            return x + self.n

    assert Old()(torch.ones(1)).item() == 4


def test_what_prepares_itself_is_scripted_as_it_says():
    class Wrapped(nn.Module):
        def __prepare_scriptable__(self):
            return nn.ReLU()

    assert torch.jit.script(Wrapped()).original_name == "ReLU"


def test_the_environment_switches_it_off(monkeypatch):
    monkeypatch.setattr(torch.jit._state._enabled, "enabled", False)
    net = Net()
    assert torch.jit.script(net) is net and torch.jit.script(copy.copy) is copy.copy


def test_functions_given_as_source():
    unit = torch.jit.CompilationUnit("def f(x: Tensor, y: int) -> Tensor:\n  return x * y\n")
    assert unit.f(torch.ones(1), 3).item() == 3
    with pytest.raises(AttributeError, match="'CompilationUnit' has no attribute 'g'"):
        unit.g  # noqa: B018


def _scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


def test_an_integer_for_what_is_declared_a_float_is_that_float():
    scripted = torch.jit.script(_scaled)
    for y in (scripted(torch.tensor([2]), 3), scripted(torch.tensor([2]), factor=3)):
        assert y.dtype is torch.float32 and y.tolist() == [6.0]
    assert _scaled(torch.tensor([2]), 3).dtype is torch.int64
