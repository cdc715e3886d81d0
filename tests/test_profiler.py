"""`torch.profiler`: cycles over the steps of a loop, names, tables and files."""

import gzip
import json
import re

import pytest

import tapegrad as torch
from tapegrad.autograd.mode import MODE
from tapegrad.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)
from tests.trace_format import problems

nn = torch.nn


@pytest.fixture
def x():
    return torch.ones(2, 3, requires_grad=True)


def names(prof):
    return [event.name for event in prof.events()]


def train(steps=2, after_step=lambda: None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(2 * steps, 4), torch.zeros(2 * steps).long())
    for x, target in torch.utils.data.DataLoader(data, batch_size=2):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        after_step()


# --- when it records ------------------------------------------------------------------------------


def test_a_schedule_says_what_is_done_in_each_step():
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    short = "".join("NWRS"[plan(step).value] for step in range(12))
    assert short == "NNWRSNWRSNNN"
    plan = schedule(wait=2, warmup=1, active=1, repeat=2, skip_first_wait=1)
    assert "".join("NWRS"[plan(step).value] for step in range(12)) == "WSNNWSNNNNNN"
    with pytest.raises(AssertionError, match=r"Got wait=-1 \(need >= 0\), warmup=0"):
        schedule(wait=-1, warmup=0, active=1)
    with pytest.raises(AssertionError, match=r"Step must be non-negative\. Got -1"):
        plan(-1)
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)


def test_a_cycle_is_ready_when_its_last_step_ends(x):
    seen = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with pytest.warns(UserWarning, match="clears events at the end of each cycle"):
        with profile(
            schedule=plan, on_trace_ready=lambda p: seen.append((p.step_num, names(p)))
        ) as prof:
            for _ in range(9):
                x * x
                prof.step()
    cycle = ["ProfilerStep*", "aten::mul"] * 2
    assert seen == [(4, cycle), (8, cycle)]
    assert names(prof) == cycle
    assert prof.events()[2].trace_name == "ProfilerStep#7"


def test_events_of_earlier_cycles_can_be_kept(x):
    plan = schedule(wait=1, warmup=1, active=1)
    with profile(schedule=plan, acc_events=True) as prof:
        for _ in range(6):
            x * x
            prof.step()
    assert names(prof) == ["ProfilerStep*", "aten::mul"] * 2
    assert prof.key_averages()[1].count == 2


def test_without_a_schedule_everything_is_recorded(x):
    ready = []
    with profile(on_trace_ready=ready.append) as prof:
        for _ in range(3):
            x * x
            prof.step()
    assert names(prof) == ["aten::mul"] * 3
    assert ready == [prof]


def test_steps_may_end_inside_other_blocks(x):
    plan = schedule(wait=0, warmup=1, active=1, repeat=1)
    with profile(schedule=plan) as prof:
        with torch.no_grad():
            prof.step()
            x * x
        with torch.no_grad():
            x + x
            prof.step()
            assert not (x - x).requires_grad
        assert (x * x).requires_grad
    assert names(prof) == ["ProfilerStep*", "aten::mul", "aten::add"]
    assert MODE.get() is True


def test_a_plan_that_stops_without_saving_is_warned_of(x):
    actions = [ProfilerAction.RECORD, ProfilerAction.NONE]
    with pytest.warns(UserWarning, match="Incorrect schedule: RECORD followed by NONE"):
        with profile(schedule=lambda step: actions[min(step, 1)]) as prof:
            x * x
            prof.step()
            x + x
    assert names(prof) == ["ProfilerStep*", "aten::mul"]


def test_a_profile_can_be_started_stopped_and_paused(x):
    prof = profile()
    with pytest.raises(AssertionError, match="must be initialized before accessing events"):
        prof.events()
    prof.start()
    x * x
    prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
    x + x
    (x * x).sum().backward()
    prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
    x - x
    prof.stop()
    assert names(prof) == ["aten::mul", "aten::sub"]
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_what_does_not_exist_is_said(x):
    with pytest.warns(UserWarning, match="CUDA is not available"):
        with profile(activities=[ProfilerActivity.CUDA]) as prof:
            x * x
    assert names(prof) == []
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=[])
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=["cpu"])
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        with torch.autograd.profiler.emit_nvtx():
            pass
    with torch.autograd.profiler.emit_itt() as block:
        x * x
    assert block.entered
    assert torch.profiler.supported_activities() == {ProfilerActivity.CPU}
    assert str(ProfilerActivity.CPU) == "ProfilerActivity.CPU"
    assert ProfilerActivity.CPU != 0 and int(ProfilerActivity.CUDA) == 2


def test_a_handler_that_fails_leaves_no_profiler_behind(x):
    def fail(prof):
        raise KeyError("disk")

    code = nn.functional.linear.__code__
    with pytest.raises(KeyError, match="disk"):
        with profile(on_trace_ready=fail, profile_memory=True) as prof:
            x * x
    assert MODE.get() is True and nn.functional.linear.__code__ is code
    assert "aten::mul" in names(prof)
    with pytest.raises(KeyError, match="disk"):
        with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=fail) as prof:
            for _ in range(3):
                x * x
                prof.step()
    assert MODE.get() is True and nn.functional.linear.__code__ is code


def test_a_profile_may_be_used_again(x):
    prof = profile()
    for n in (1, 2):
        with prof:
            for _ in range(n):
                x * x
        assert names(prof) == ["aten::mul"] * n


def test_a_named_block_with_a_note_has_a_place_for_it(x):
    with profile(record_shapes=True) as prof:
        with record_function("a"), record_function("b", "note"):
            pass
    assert [event.input_shapes for event in prof.events()] == [[], [[]]]


# --- what it records ------------------------------------------------------------------------------


def test_optimizers_and_loaders_have_pytorchs_names():
    with profile() as prof:
        train(2)
    counts = {event.key: event.count for event in prof.key_averages()}
    assert counts["Optimizer.step#SGD.step"] == 2
    assert counts["Optimizer.zero_grad#SGD.zero_grad"] == 2
    assert counts["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"] == 3
    assert counts["AddmmBackward0"] == 4
    assert counts["torch::autograd::AccumulateGrad"] == 8
    assert counts["autograd::engine::evaluate_function: TanhBackward0"] == 2


def test_results_are_the_same_under_a_profile(x):
    def run():
        y = (x * 2 + x.detach()) / 3
        with torch.no_grad():
            y = y * x[0] - 1
        return torch.autograd.grad((x * y).tanh().sum(), x, create_graph=True)[0], y > 0

    plain = run()
    with profile():
        profiled = run()
    assert all(torch.equal(a, b) for a, b in zip(plain, profiled, strict=True))


def test_quick_operators_fail_as_they_do_alone(x):
    with profile() as prof:
        with pytest.raises(RuntimeError, match="must match the size"):
            x * torch.ones(5)
        with pytest.raises(TypeError):
            x * "a"
    assert names(prof)[:1] == ["aten::ones"]
    assert MODE.get() is True


def test_operators_know_their_layer():
    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Tanh()))
    with profile(with_modules=True) as prof:
        model(torch.ones(1, 3)).sum().backward()
    places = {event.name: event.module_hierarchy for event in prof.events()}
    assert places["aten::addmm"] == "Sequential.0"
    assert places["aten::tanh"] == places["TanhBackward0"] == "Sequential.1.0"
    assert places["aten::sum"] == ""


def test_averages_can_be_told_apart_by_their_callers(x):
    def one():
        return x * x

    def two():
        return (one() * x).sum()

    with profile(with_stack=True) as prof:
        two().backward()
        nn.Tanh()(x)
    averages = prof.key_averages(group_by_stack_n=1)
    stacks = {tuple(e.stack): e.count for e in averages if e.key == "aten::mul"}
    assert [re.sub(r".*: ", "", line) for (line,) in stacks] == ["one", "two"]
    assert [e.stack for e in averages if e.key == "aten::tanh"] == [["nn.Module: Tanh_0"]]
    nodes = [e.stack[0] for e in averages if e.key == "MulBackward0"]
    assert [line.rpartition(" ")[2] for line in nodes] == ["two", "one"]
    table = averages.table(max_src_column_width=20)
    assert "Source Location       \n" in table
    assert "Source Location" not in prof.key_averages().table()
    row = next(line for line in table.splitlines() if "aten::tanh" in line)
    assert row.endswith("  nn.Module: Tanh_0     ")
    assert all(len(line) == len(row) for line in table.splitlines()[:-2])


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def trace_file(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        prof.add_metadata("model", "tiny")
        prof.add_metadata_json("sizes", "[4, 8, 2]")
        with record_function("training"):
            train(2)
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    return path


def test_a_trace_is_in_the_trace_event_format(trace_file):
    trace = json.loads(trace_file.read_text())
    assert problems(trace) == []
    assert trace["model"] == "tiny" and trace["sizes"] == [4, 8, 2]
    assert re.fullmatch("[0-9A-F]{32}", trace["trace_id"])
    assert trace["record_shapes"] == trace["with_stack"] == trace["profile_memory"] == 1
    phases = [event["ph"] for event in trace["traceEvents"]]
    # the loss, two layers and their activation, in two steps; the weights are transposed as well
    assert phases.count("s") == phases.count("f") == 14
    counters = [e["args"]["bytes"] for e in trace["traceEvents"] if e["ph"] == "C"]
    assert len(counters) > 50 and min(counters) >= 0


def test_arrows_go_from_an_operator_to_its_node(trace_file):
    events = json.loads(trace_file.read_text())["traceEvents"]
    spans = {(e["ts"], e["cat"]): e for e in events if e["ph"] == "X"}
    pairs: dict = {}
    for event in events:
        if event["ph"] in "sf":
            pairs.setdefault(event["id"], {})[event["ph"]] = spans[event["ts"], "cpu_op"]["name"]
    assert {"s": "aten::tanh", "f": "TanhBackward0"} in [
        {end: name.rpartition(" ")[2] for end, name in pair.items()} for pair in pairs.values()
    ]


def test_the_checker_of_traces_finds_what_is_wrong(trace_file):
    trace = json.loads(trace_file.read_text())
    for spoil, message in [
        (lambda e: e.pop("ts"), "ts is None"),
        (lambda e: e.update(ph="?"), "no known phase"),
        (lambda e: e.update(dur=-1.0), "ends before it begins"),
    ]:
        broken = json.loads(json.dumps(trace))
        spoil(next(e for e in broken["traceEvents"] if e["ph"] == "X"))
        assert any(message in problem for problem in problems(broken))
    broken = json.loads(json.dumps(trace))
    broken["traceEvents"].remove(next(e for e in broken["traceEvents"] if e["ph"] == "f"))
    assert any("has ['s']" in problem for problem in problems(broken))
    assert problems([]) == ["no list `traceEvents`"]


def test_a_trace_may_be_compressed(tmp_path, x):
    with profile() as prof:
        x * x
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        assert problems(json.load(file)) == []


def test_traces_for_tensorboard_have_its_names(tmp_path, x):
    save = tensorboard_trace_handler(str(tmp_path / "log"), worker_name="me", use_gzip=True)
    with profile(on_trace_ready=save):
        x * x
    (file,) = (tmp_path / "log").iterdir()
    assert re.fullmatch(r"me\.\d+\.pt\.trace\.json\.gz", file.name)
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="Can't create directory: "):
        tensorboard_trace_handler(str(tmp_path / "file"))(None)
