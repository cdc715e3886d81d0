"""What a profile says of one network, by PyTorch and by tapegrad: names, counts, shapes, bytes."""

import pytest

import tapegrad
from tapegrad.dispatch.op import REGISTRY
from tapegrad.profiler.composite import _around
from tapegrad.profiler.names import titles_of
from tests import needs
from tests.samples import sample

torch = needs.pytorch()


def network(nn):
    class Block(nn.Module):
        def __init__(self, n_in, n_out):
            super().__init__()
            self.conv = nn.Conv2d(n_in, n_out, 3, 2, 1, bias=False)
            self.norm = nn.BatchNorm2d(n_out)
            self.aside = nn.Conv2d(n_in, n_out, 1, 2, bias=False)

        def forward(self, x):
            return nn.functional.relu(self.norm(self.conv(x)) + self.aside(x))

    layers = [nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.MaxPool2d(3, 2, 1)]
    layers += [Block(8, 16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)]
    return nn.Sequential(*layers)


@pytest.fixture(scope="module")
def profiles():
    found = []
    for library in (torch, tapegrad):
        library.manual_seed(0)
        model, x = network(library.nn), library.randn(5, 3, 64, 64)
        model(x)
        with library.profiler.profile(
            activities=[library.profiler.ProfilerActivity.CPU],
            record_shapes=True,
            profile_memory=True,
            with_flops=True,
        ) as prof:
            with library.profiler.record_function("inference"):
                model(x)
        found.append(prof)
    return found


def test_events_have_pytorchs_names_and_counts(profiles):
    theirs, ours = ({e.key: e.count for e in p.key_averages()} for p in profiles)
    assert ours.keys() - theirs.keys() <= {"aten::reshape"}  # inside aten::flatten
    assert {name: theirs[name] for name in ours if name in theirs} == {
        name: count for name, count in ours.items() if name in theirs
    }
    for name in ("conv2d", "batch_norm", "max_pool2d", "linear", "addmm", "flatten", "relu"):
        assert "aten::" + name in ours


def test_events_stand_inside_those_of_pytorch(profiles):
    theirs, ours = (
        {(e.name, e.cpu_parent.name) for e in p.events() if e.cpu_parent is not None}
        for p in profiles
    )
    inside = {"aten::reshape", "aten::view", "[memory]"}
    assert {pair for pair in ours if pair[0] not in inside} <= theirs


def test_shapes_memory_and_operations_are_pytorchs(profiles):
    def figures(prof):
        return {
            (e.key, str(e.input_shapes)): (e.count, e.cpu_memory_usage, e.flops)
            for e in prof.key_averages(group_by_input_shape=True)
            if e.key.removeprefix("aten::") in names
        }

    names = ("conv2d", "max_pool2d", "add", "linear", "addmm", "adaptive_avg_pool2d", "flatten")
    theirs, ours = map(figures, profiles)
    assert ours == theirs and len(ours) >= len(names)


def test_every_name_is_known_to_pytorch():
    known = {name.split(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    assert sample.ROWS.keys() <= REGISTRY.keys()  # the table has every operator defined
    names = {title for name, op in REGISTRY.items() for title in titles_of(name, op)}
    with tapegrad.profiler.profile():
        names |= {each.title for each in _around}
    assert {name for name in names if name.startswith("aten::")} - known == set()
