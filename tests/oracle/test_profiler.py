"""Profiles of one program by PyTorch and by tapegrad: names, counts, columns."""

import json

import pytest

import tapegrad
from tests import needs
from tests.trace_format import problems

torch = needs.pytorch()

OWN = {"aten::tensor"}  # PyTorch shows the parts of it: aten::empty, aten::to, ...


def program(torch, **options):
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    model.append(nn.Flatten()).append(nn.Linear(4 * 5 * 5, 8)).append(nn.Tanh())
    model.append(nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(8, 1, 12, 12), torch.arange(8) % 3)
    plan = torch.profiler.schedule(wait=0, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], schedule=plan, **options
    ) as prof:
        for x, target in torch.utils.data.DataLoader(data, batch_size=2):
            with torch.profiler.record_function("forward"):
                loss = nn.functional.cross_entropy(model(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            prof.step()
    return prof


@pytest.fixture(scope="module")
def profiles():
    return program(torch), program(tapegrad)


def counts(prof):
    return {event.key: event.count for event in prof.key_averages()}


def test_every_name_is_one_of_pytorchs_and_nodes_and_blocks_count_alike(profiles):
    theirs, ours = map(counts, profiles)
    assert ours.keys() - theirs.keys() - OWN == set()
    for name, count in theirs.items():
        if not name.startswith("aten::") and name in ours:
            assert ours[name] == count, name
    missing = {name for name in theirs if not name.startswith("aten::")} - ours.keys()
    assert missing <= {"detach", "detach_"}
    for name in ("aten::convolution", "aten::addmm", "aten::relu", "aten::tanh"):
        assert ours[name] == theirs[name]


def test_tables_have_the_same_columns(profiles):
    for options in ({}, {"row_limit": 2, "header": "Head"}, {"max_name_column_width": 30}):
        theirs, ours = (
            [line for line in p.key_averages().table(**options).splitlines() if line[:2] != "  "]
            for p in profiles
        )
        rules = [[line for line in lines if line[:2] in ("--", "==")] for lines in (theirs, ours)]
        assert rules[0] == rules[1]


def test_traces_have_the_same_kinds_of_events(profiles, tmp_path):
    kinds = []
    for number, prof in enumerate(profiles):
        path = str(tmp_path / f"{number}.json")
        prof.export_chrome_trace(path)
        with open(path) as file:
            trace = json.load(file)
        kinds.append({(e["ph"], e.get("cat")) for e in trace["traceEvents"]})
    assert problems(trace) == []
    theirs, ours = kinds
    assert ours <= theirs
    assert {("s", "fwdbwd"), ("f", "fwdbwd"), ("X", "cpu_op"), ("X", "user_annotation")} <= ours
