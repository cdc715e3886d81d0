"""Networks made quicker before they are used."""

import warnings
from importlib import import_module

import pytest

import tapegrad
from tapegrad import fx, nn
from tapegrad.fx.experimental.optimization import extract_subgraph, fuse, remove_dropout
from tests.needs import pytorch


def network(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.c, self.n = nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4)
            self.inner = nn.Sequential(nn.Conv2d(4, 4, 1, bias=False), nn.BatchNorm2d(4))
            self.drop = nn.Dropout(0.5)
            self.c1, self.n1 = nn.Conv1d(1, 2, 1), nn.BatchNorm1d(2)

        def forward(self, x):
            h = self.inner(torch.relu(self.n(self.c(x))))
            return self.n1(self.c1(self.drop(h).mean((2, 3))[:, None])).flatten(1)

    torch.manual_seed(3)
    made = Net().eval()
    for layer in made.modules():
        if isinstance(layer, (nn.BatchNorm1d, nn.BatchNorm2d)):
            with torch.no_grad():
                layer.running_mean.normal_()
                layer.running_var.uniform_(0.5, 2)
                layer.weight.normal_()
                layer.bias.normal_()
    return made


def fused(torch):
    model = network(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's own module warns at its import
        made = import_module(f"{torch.__name__}.fx.experimental.optimization").fuse(model)
    x = torch.randn(2, 2, 6, 6)
    numbers = {k: v.tolist() for k, v in made.state_dict().items()}
    return made.code, str(made), numbers, made(x).tolist(), model(x).tolist()


def test_fused_layers_are_those_of_pytorch():
    ours, theirs = fused(tapegrad), fused(pytorch())
    assert ours[:2] == theirs[:2]
    assert list(ours[2]) == list(theirs[2])
    for name, numbers in ours[2].items():
        close = tapegrad.testing.assert_close
        close(tapegrad.tensor(numbers), tapegrad.tensor(theirs[2][name]))
    tapegrad.testing.assert_close(tapegrad.tensor(ours[3]), tapegrad.tensor(theirs[3]))


def test_fused_layers_compute_the_same():
    _, text, _, quick, slow = fused(tapegrad)
    assert "BatchNorm" not in text
    tapegrad.testing.assert_close(tapegrad.tensor(quick), tapegrad.tensor(slow))


def test_the_model_itself_is_changed_only_when_asked():
    model = network(tapegrad)
    names = [name for name, _ in model.named_modules()]
    fuse(model)
    assert [name for name, _ in model.named_modules()] == names
    traced = fx.symbolic_trace(model)
    assert "self.n(" not in fuse(traced, inplace=True, no_trace=True).code


def test_what_several_use_is_not_fused():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.c, self.n = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)

        def forward(self, x):
            h = self.c(x)
            return self.n(h) + h

    assert "self.n(" in fuse(Twice().eval()).code


def test_models_in_training_are_refused():
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        fuse(nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)))


def test_dropout_is_removed():
    made = remove_dropout(nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.ReLU()))
    assert "Dropout" not in str(made)
    assert 'getattr(self, "2")' in made.code and 'getattr(self, "1")' not in made.code


def test_a_part_of_a_graph_becomes_a_module():
    traced = fx.symbolic_trace(lambda x: (x + 1).relu().sin())
    nodes = {node.name: node for node in traced.graph.nodes}
    part = extract_subgraph(traced, [nodes["relu"]], [nodes["add"]], [nodes["relu"]])
    assert part(tapegrad.tensor([-1.0, 2.0]))[0].tolist() == [0, 2]
