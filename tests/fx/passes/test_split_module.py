"""Graphs split into modules: the text of the whole and of each part is PyTorch's."""

import random
from importlib import import_module

import pytest

import tapegrad
from tapegrad import fx
from tapegrad.fx.passes.split_module import split_module
from tests.needs import pytorch


def network(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(3, 4)
            self.b = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
            self.w = torch.nn.Parameter(torch.ones(4))
            self.register_buffer("c", torch.zeros(4))

        def forward(self, x, y=None):
            h = self.a(x)
            g = torch.relu(h) * self.w
            u, v = (self.b(g) + self.c).split(2, -1)
            return (u * v + h[..., :2]).sum(dim=-1, keepdim=True), g, self.w

    torch.manual_seed(0)
    return Net()


def split(torch, model, parts, **options):
    """The text of a model in `parts`, and of its parts; and what it computes."""
    trace = import_module(f"{torch.__name__}.fx").symbolic_trace
    splits = import_module(f"{torch.__name__}.fx.passes.split_module").split_module
    traced, paths = trace(model), {}
    place = {
        node: i * parts // len(traced.graph.nodes) for i, node in enumerate(traced.graph.nodes)
    }
    found = splits(traced, model, place.__getitem__, paths, **options)
    text = [str(found.code), str(found.graph), str(found), sorted(found.state_dict())]
    text += [(name, str(each.code), str(each.graph)) for name, each in found.named_children()]
    return found, [*text, paths]


OPTIONS = [
    {},
    {"keep_original_order": True},
    {"keep_original_node_name": True},
    {"keep_original_input_name": False},
    {"partition_affix": "part"},
    {"tuple_return": True},
    {"keep_original_order": True, "keep_original_input_name": False, "tuple_return": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda each: " ".join(each) or "none")
@pytest.mark.parametrize("parts", [1, 2, 4])
def test_the_text_is_that_of_pytorch(parts, options):
    torch = pytorch()
    ours, theirs = (split(t, network(t), parts, **options)[1] for t in (tapegrad, torch))
    assert ours == theirs


@pytest.mark.parametrize("options", OPTIONS, ids=lambda each: " ".join(each) or "none")
def test_it_computes_what_the_whole_does(options):
    model = network(tapegrad)
    x = tapegrad.randn(2, 3)
    for ours, whole in zip(split(tapegrad, model, 3, **options)[0](x), model(x), strict=True):
        assert tapegrad.equal(ours, whole)


def program(seed):
    """A program of sums and relus, and where each of them belongs; some places form circles."""
    chosen = random.Random(seed)
    steps = [
        (chosen.randrange(3 + i), chosen.randrange(3 + i)) for i in range(chosen.randint(3, 9))
    ]

    def run(a, b, c):
        values = [a, b, c]
        for i, j in steps:
            values.append(values[i].relu() if i == j else values[i] + values[j])
        return values[-1], values[steps[0][0]]

    return run, [chosen.randint(0, 4) for _ in range(20)]


@pytest.mark.parametrize("seed", range(40))
def test_parts_are_called_in_the_order_of_pytorch(seed):
    torch = pytorch()
    found = []
    for name in ("tapegrad", torch.__name__):
        run, places = program(seed)
        traced = import_module(f"{name}.fx").symbolic_trace(run)
        place = dict(zip(traced.graph.nodes, places, strict=False))
        splits = import_module(f"{name}.fx.passes.split_module").split_module
        try:
            found.append(splits(traced, traced, place.__getitem__).code)
        except RuntimeError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_parts_that_need_each_other_are_refused():
    traced = fx.symbolic_trace(lambda x: ((x + 1).relu() * 2).sin())
    with pytest.raises(RuntimeError, match="cycle exists between partitions!"):
        split_module(traced, traced, lambda node: int(node.name in ("relu", "sin")))
