"""The profiler: what is recorded, how it is summed and how it prints."""

import asyncio
import json
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd.profiler import profile, record_function
from tapegrad.autograd.profiler_util import EventList, FunctionEvent
from tapegrad.profiler.event import events_of
from tapegrad.profiler.recorder import RECORDER, USER, Recorder

TABLES = Path(__file__).with_name("profile_tables.txt")


def names(prof):
    return [event.name for event in prof.function_events]


@pytest.fixture
def pair():
    return torch.ones(2, 3, requires_grad=True), torch.full((2, 3), 2.0, requires_grad=True)


def test_threads_need_no_number_of_the_systems(pair, monkeypatch):
    monkeypatch.delattr(threading.Thread, "native_id", raising=False)
    with profile() as prof:
        pair[0] + pair[1]
    assert names(prof) == ["aten::add"]


# --- the recorder alone ---------------------------------------------------------------------------


@pytest.fixture
def recorder():
    recorder = Recorder()
    recorder.start()
    return recorder


def test_time_of_children_is_not_the_parents_own(recorder, monkeypatch):
    times = iter([1_000_000, 3_000_000, 23_000_000, 27_000_000, 30_000_000])  # nanoseconds
    monkeypatch.setattr("tapegrad.profiler.recorder.perf_counter_ns", lambda: next(times))
    outer = recorder.push("outer", USER)
    inner = recorder.push("inner")
    recorder.pop(inner)
    recorder.pop(outer)
    recorder.stop()
    outer, inner = events_of(recorder)
    assert inner.cpu_parent is outer
    assert outer.cpu_children == [inner]
    assert (inner.cpu_time_total, outer.cpu_time_total) == (20_000, 26_000)
    assert outer.self_cpu_time_total == 6_000


def test_events_of_two_threads_do_not_enclose_each_other(recorder):
    outer = recorder.push("here")

    def work():
        recorder.pop(recorder.push("there"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    recorder.pop(outer)
    recorder.stop()
    here, there = events_of(recorder)
    assert (here.thread, there.thread) == (1, 2)
    assert there.cpu_parent is None and here.cpu_children == []


def test_what_still_runs_ends_with_the_recorder(recorder):
    record = recorder.push("unfinished")
    recorder.stop()
    end = record.end
    recorder.pop(record)  # too late to count
    assert record.end == end == recorder.ended


def test_an_event_alone_in_one_of_its_name_is_the_same_event(recorder):
    records = [recorder.push(name) for name in ("sum", "sum", "sum", "fill")]
    for record in reversed(records):
        recorder.pop(record)
    recorder.stop()
    assert [event.name for event in events_of(recorder)] == ["sum", "fill"]


# --- events and tables ----------------------------------------------------------------------------


def event(id, name, start, end, shapes, **fields):
    return FunctionEvent(id, name, 1, start, end, "", input_shapes=shapes, **fields)


@pytest.fixture
def events():
    shapes, products = [[2, 3], [2, 3]], [[30, 40], [40, 5]]
    leaf = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
    events = EventList(
        [
            event(0, "my block", 0, 2e6, [], cpu_memory_usage=2048),
            event(1, "aten::mul", 10, 110.5, shapes, cpu_memory_usage=24, flops=6),
            event(2, "aten::mm", 200, 1700, products, cpu_memory_usage=-600, flops=12000),
            event(3, "aten::mul", 2000001, 2000101, [[2, 3], []], flops=6),
            event(4, leaf, 2000200, 2000240, []),
        ]
    )
    events._build_tree()
    return events


def test_tables_are_those_that_pytorch_prints(events):
    full = EventList(events, profile_memory=True, with_flops=True)
    by_shape = events.key_averages(group_by_input_shapes=True)
    printed = {
        "averages by self time": events.key_averages().table(sort_by="self_cpu_time_total"),
        "two averages by shape with a header": by_shape.table(
            sort_by="cpu_time_total", row_limit=2, header="Step 1"
        ),
        "events with memory and operations": full.table(),
        "outermost events in milliseconds": full.table(top_level_events_only=True, time_unit="ms"),
        "narrow columns": events.table(max_name_column_width=20, max_shapes_column_width=10),
    }
    expected = {}
    for section in TABLES.read_text().split("@@@ ")[1:]:
        title, _, table = section.partition("\n")
        expected[title] = table
    assert printed == expected


def test_events_and_averages_print_as_in_pytorch(events):
    assert str(events[1]) == (
        "<FunctionEvent id=1 name=aten::mul overload_name= device_type=DeviceType.CPU node_id=-1"
        " cpu_time=100.500us start_us=10 end_us=110.5 cpu_children=[] None_time=0.000us"
        " name=aten::mul thread=1 input_shapes=[[2, 3], [2, 3]] cpu_memory_usage=24"
        " None_memory_usage=0 is_async=False is_remote=False seq_nr=-1 is_legacy=False>"
    )
    assert str(events.key_averages()[1]) == (
        "<FunctionEventAvg key=aten::mul self_cpu_time=200.500us cpu_time=100.250us "
        " self_cuda_time=0.000us cuda_time=0.000us input_shapes= cpu_memory_usage=24"
        " cuda_memory_usage=0>"
    )
    assert str(events.total_average()) == (
        "<FunctionEventAvg key=Total self_cpu_time=2.000s cpu_time=400.348ms "
        " self_cuda_time=0.000us cuda_time=0.000us input_shapes=[] cpu_memory_usage=1472"
        " cuda_memory_usage=0>"
    )


def test_python_functions_stand_before_operations(events):
    events[1].stack = ["deep/file.py(3): f", "file.py(9): <module>"]
    table = EventList(events, with_flops=True).table(max_src_column_width=16).splitlines()
    assert table[1].endswith("Input Shapes  Source Location    Total FLOPs  ")
    row = next(i for i, line in enumerate(table) if "aten::mul" in line)
    assert table[row].endswith("  ...file.py(3): f         6.000  ")
    assert table[row + 1].strip() == "...(9): <module>"
    assert table[row + 2].strip() == ""
    assert len({len(line) for line in table if line and "total:" not in line}) == 1


def test_an_empty_list_is_an_empty_table():
    assert EventList().table() == ""


def test_a_share_of_nothing_is_not_a_number():
    events = EventList([FunctionEvent(0, "n", 1, 0, 0)])
    assert "NaN       0.000us           NaN" in events.table()


def test_the_old_names_of_device_times_warn(events):
    with pytest.warns(FutureWarning, match="`cuda_time_total` is deprecated"):
        assert events[0].cuda_time_total == 0
    with pytest.raises(AttributeError, match="'FunctionEvent' object has no attribute 'foo'"):
        events.table(sort_by="foo")


# --- operators and blocks -------------------------------------------------------------------------


def test_operators_are_counted_by_name(pair):
    x, y = pair
    z = torch.ones(2, 3)
    with profile() as prof:
        for _ in range(10):
            z = (z / x) * y
    assert [(e.key, e.count) for e in prof.key_averages()] == [("aten::div", 10), ("aten::mul", 10)]
    assert prof.key_averages()[0].cpu_time_total > 0
    assert str(prof).count("aten::div") == 10
    x * y
    assert len(prof.function_events) == 20


def test_the_backward_pass_is_recorded_node_by_node(pair):
    x, y = pair
    with profile(record_shapes=True) as prof, record_function("my block"):
        (x * y).sum().backward()
    found = names(prof)
    assert found[:3] == ["my block", "aten::mul", "aten::sum"]
    evaluate = "autograd::engine::evaluate_function: "
    for node in ("SumBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"):
        assert found.index(evaluate + node) + 1 == found.index(node)
    assert found.count("torch::autograd::AccumulateGrad") == 2
    by_name = {event.name: event for event in prof.function_events}
    assert by_name["MulBackward0"].cpu_parent.name == evaluate + "MulBackward0"
    assert by_name["MulBackward0"].sequence_nr == by_name["aten::mul"].sequence_nr > 0
    assert by_name["MulBackward0"].input_shapes == [[2, 3]]
    assert by_name["MulBackward0"].scope == 1
    assert by_name["my block"].is_user_annotation
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_shapes_are_recorded_when_asked_for(pair):
    x, y = pair
    with profile() as plain:
        x * y
    with profile(record_shapes=True) as prof:
        x * y
        x * 2.5
        torch.cat([x, y])
    assert plain.function_events[0].input_shapes == []
    grouped = prof.key_averages(group_by_input_shape=True)
    shapes = [e.input_shapes for e in grouped if e.key == "aten::mul"]
    assert shapes == [[[2, 3], [2, 3]], [[2, 3], []]]
    assert len(prof.key_averages()) == 2


def test_operators_have_the_names_that_pytorch_gives_them():
    x = torch.ones(3, 3)
    with profile() as prof:
        x.add_(1), x.zero_(), x.log1p(), x + x, x.argmax(1), x.sum(1), x // 2, x.clone(), x > 0
        torch.zeros(3)
    assert names(prof) == [
        "aten::" + name
        for name in "add_ zero_ log1p add argmax sum floor_divide clone copy_ gt zeros".split()
    ]


def test_memory_of_arrays_is_recorded_when_asked_for():
    a = torch.ones(500, 500)
    with profile(profile_memory=True) as prof, record_function("block"):
        b = a * a
        c = b.t() + b
        del c
    events = prof.function_events
    used = {event.name: event.cpu_memory_usage for event in events}
    assert used["aten::mul"] == used["aten::add"] == 1_000_000
    assert used["aten::t"] == used["aten::transpose"] == 0  # a view
    assert used["block"] == 1_000_000
    assert events[0].self_cpu_memory_usage == -1_000_000  # what the block itself freed
    assert "976.56 KB" in prof.table() and "Self CPU Mem" in prof.table()
    assert b.shape == a.shape


def test_memory_that_goes_between_events_has_an_event_of_its_own():
    with profile(profile_memory=True) as prof:
        a = torch.ones(100)
        del a
        kept = torch.ones(10)
    events = [event for event in prof.function_events if event.name == "[memory]"]
    assert [event.cpu_memory_usage for event in events] == [-400]
    (average,) = (e for e in prof.key_averages() if e.key == "[memory]")
    assert (average.count, average.cpu_memory_usage, average.cpu_time_total) == (1, -400, 0)
    assert prof.function_events.total_average().cpu_memory_usage == kept.nbytes == 40


def test_memory_of_a_training_step_is_that_of_pytorch():
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    x, target = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])
    with profile(profile_memory=True) as prof:
        nn.functional.cross_entropy(model(x), target).backward()
    used = {event.key: event.cpu_memory_usage for event in prof.key_averages()}
    for name, n_bytes in {
        "aten::linear": 220,
        "aten::addmm": 220,
        "aten::tanh": 160,
        "aten::log_softmax": 60,
        "NllLossBackward0": 60,
        "LogSoftmaxBackward0": 60,
        "TanhBackward0": 160,
    }.items():
        assert used[name] == n_bytes, name


def test_memory_is_watched_no_longer_than_the_profile():
    from tapegrad.arrays.numpy.memory_pool import _watchers
    from tapegrad.optim.optimizer import _after_all, _before_all

    with pytest.raises(ValueError), profile(profile_memory=True) as prof:
        a = torch.ones(100)
        raise ValueError
    n = len(prof.function_events)
    del a
    assert _watchers == [] and not _before_all and not _after_all
    assert len(prof.function_events) == n


def test_memory_of_empty_tensors_is_nothing():
    x = torch.ones(0, 3, requires_grad=True)
    with profile(profile_memory=True, record_shapes=True) as prof:
        (x * 2).sum().backward()
    assert sum(e.cpu_memory_usage for e in prof.key_averages() if e.key == "aten::mul") == 0
    assert x.grad.shape == x.shape


def test_memory_of_optimizers_is_that_of_their_states(pair):
    x, _ = pair
    x.grad = torch.ones(2, 3)
    optimizer = torch.optim.Adam([x])
    with profile(profile_memory=True) as prof:
        optimizer.step()
    (step,) = (e for e in prof.function_events if e.name == "Optimizer.step#Adam.step")
    assert step.cpu_memory_usage >= 2 * 24  # two moments


def test_blocks_and_decorated_functions_have_names(pair):
    x, y = pair

    @record_function("deep")
    def deep(n):
        return x * y if n == 0 else deep(n - 1) + x

    with profile() as prof, record_function("block") as block:
        deep(2)
    assert block.name == "block"
    assert names(prof) == ["block", *["deep"] * 3, "aten::mul", "aten::add", "aten::add"]


def test_a_block_that_fails_ends_there(pair):
    x, y = pair
    with profile() as prof:
        with pytest.raises(ValueError), record_function("block"):
            raise ValueError
        x * y
    assert names(prof) == ["block", "aten::mul"]
    assert prof.function_events[1].cpu_parent is None


def test_a_failing_operator_leaves_the_profiler_running(pair):
    x, _ = pair
    five = torch.ones(5)
    with profile() as prof:
        with pytest.raises(RuntimeError):
            x * five
        x * x
    assert names(prof) == ["aten::mul", "aten::mul"]


def test_a_failing_block_switches_the_profiler_off(pair):
    x, y = pair
    with pytest.raises(ValueError), profile() as prof:
        raise ValueError
    x * y
    assert RECORDER.get() is None
    assert names(prof) == []


def test_grad_modes_work_inside_and_around_a_profile(pair):
    x, y = pair
    with torch.no_grad(), profile() as prof:
        assert not (x * y).requires_grad
        with torch.enable_grad():
            assert (x * y).requires_grad
    assert names(prof) == ["aten::mul"] * 2
    with profile() as prof:
        with torch.no_grad():
            assert not (x * y).requires_grad
        with torch.inference_mode():
            assert torch.is_inference_mode_enabled()
            assert (x * y).is_inference()
            assert torch.is_inference_mode_enabled()
        assert not torch.is_inference_mode_enabled()
        assert (x * y).requires_grad
    assert names(prof) == ["aten::mul"] * 3
    with torch.inference_mode(), profile() as prof:
        assert torch.is_inference_mode_enabled()
        assert (x * y).is_inference()
    assert names(prof) == ["aten::mul"]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_mapped_functions_write_in_place_under_a_profile():
    table = torch.tensor([[3.0, 4.0], [0.3, 0.4]])

    def shortened(rows):
        return torch.nn.functional.embedding(torch.tensor([0, 1]), rows.clone(), max_norm=1.0)

    batch = torch.stack([table, 2 * table])
    plain = torch.func.vmap(shortened)(batch)
    with profile(record_shapes=True) as prof:
        assert torch.equal(torch.func.vmap(shortened)(batch), plain)
    assert "aten::embedding_renorm_" in names(prof)


@pytest.mark.skipif(sys.maxsize < 2**58, reason="there are no such addresses")
def test_a_tensor_that_is_too_large_is_the_same_error_under_a_profile():
    for make in (lambda: torch.zeros(2**58, dtype=torch.float64), lambda: torch.ones(2**58)):
        with pytest.raises(RuntimeError, match="you tried to allocate") as alone:
            make()
        with profile(), pytest.raises(RuntimeError) as profiled:
            make()
        assert str(profiled.value) == str(alone.value)


def test_gradients_are_the_same_under_a_profile(pair):
    x, y = pair
    (x * y * x).sum().backward()
    plain = x.grad
    x.grad = None
    with profile():
        (g,) = torch.autograd.grad((x * y * x).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(g.sum(), x)
    assert torch.equal(g.detach(), plain)
    assert second.tolist() == [[4.0] * 3] * 2


def test_a_profile_inside_another_has_its_block_for_itself(pair):
    x, y = pair
    with profile() as outer:
        x * y
        with profile() as inner, record_function("block"):
            x + y
        x / y
    assert names(inner) == ["block", "aten::add"]
    assert names(outer) == ["aten::mul", "aten::div"]


def test_threads_started_inside_are_not_recorded(pair):
    x, y = pair

    def work():
        with record_function("there"):
            x * y

    with profile() as prof:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert names(prof) == []


def test_asynchronous_tasks_may_overlap(pair):
    x, y = pair

    async def task(name):
        with record_function(name):
            await asyncio.sleep(0)
            x * y
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(task("a"), task("b"))

    with profile() as prof:
        asyncio.run(main())
    assert sorted(names(prof)) == ["a", "aten::mul", "aten::mul", "b"]


def test_python_functions_are_recorded_when_asked_for(tmp_path, pair):
    x, y = pair

    def outer():
        return inner() * y

    def inner():
        return x + y

    with profile(with_stack=True) as prof:
        outer()
        sorted([2, 1])
    found = {name.rsplit(" ", 1)[-1]: i for i, name in enumerate(names(prof)) if "py(" in name}
    events = prof.function_events
    assert events[found["inner"]].cpu_parent is events[found["outer"]]
    assert [e.name for e in events[found["inner"]].cpu_children] == ["aten::add"]
    assert "<built-in function sorted>" in names(prof)
    assert not any("tapegrad/" in name for name in names(prof))
    prof.export_stacks(tmp_path / "stacks.txt", "self_cpu_time_total")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    inside = [line for line in lines if line.rpartition(" ")[0].endswith("inner")]
    assert len(inside) == 1 and "outer;" in inside[0]
    assert int(inside[0].rpartition(" ")[2]) > 0


def test_python_functions_that_operators_call_are_left_out():
    x = torch.rand(4, 4, requires_grad=True)

    def found(hook):
        handle = x.register_hook(hook)
        with profile(with_stack=True) as prof:
            torch.linalg.inv(x).sum().backward()
            torch.randn(3)
        handle.remove()
        return [event.name for event in prof.function_events if event.is_python_function]

    plain = found(lambda grad: grad)
    assert not any("numpy" in name or "tapegrad/" in name for name in plain)
    own = found(lambda grad: grad * float(np.flip(np.eye(3))[0, 2]))
    assert any(name.endswith(": <lambda>") for name in own)
    assert any(name.endswith(": flip") for name in own)  # the user's call of it


# --- files ----------------------------------------------------------------------------------------


def test_a_trace_holds_every_event_in_chromes_format(tmp_path, pair):
    x, y = pair
    with profile(record_shapes=True) as prof, record_function("my block"):
        (x * y).sum().backward()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path), metadata={"model": "tiny"})
    trace = json.loads(path.read_text())
    assert trace["model"] == "tiny"
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert [e["name"] for e in spans] == names(prof)
    assert all(e["dur"] > 0 and e["ts"] > 0 for e in spans)
    assert spans[0]["cat"] == "user_annotation" and spans[1]["cat"] == "cpu_op"
    assert spans[1]["args"]["Input Dims"] == [[2, 3], [2, 3]]
    arrows = [e for e in trace["traceEvents"] if e["name"] == "fwdbwd"]
    assert sorted(e["ph"] for e in arrows) == ["f", "f", "s", "s"]
    (start,) = (e for e in arrows if e["ph"] == "s" and e["ts"] == spans[1]["ts"])
    assert start["id"] == spans[1]["args"]["Sequence number"]


def test_a_list_of_events_writes_a_list_of_spans(tmp_path, pair):
    x, y = pair
    with profile() as prof:
        x * y
    prof.function_events.export_chrome_trace(tmp_path / "trace.json")
    (span,) = json.loads((tmp_path / "trace.json").read_text())
    assert span["name"] == "aten::mul" and span["ph"] == "X" and span["tid"] == 1


# --- options and errors ---------------------------------------------------------------------------


def test_before_the_block_has_ended_there_is_nothing():
    prof = profile()
    assert str(prof) == repr(prof) == "<unfinished torch.autograd.profile>"
    with prof:
        assert prof.table() == "" and prof.key_averages() == []
        assert prof.total_average().count == 0
        with pytest.raises(RuntimeError, match="Profiler didn't finish running"):
            prof.export_chrome_trace("trace.json")


def test_a_profile_is_used_once():
    with profile() as prof:
        pass
    with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"), prof:
        pass


def test_a_profile_that_is_not_enabled_records_nothing(pair):
    x, y = pair
    with profile(enabled=False) as prof:
        x * y
    assert prof is None


def test_a_device_that_is_not_there_is_warned_of(pair):
    x, y = pair
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        prof = profile(use_device="cuda")
    with pytest.warns(UserWarning, match="The nothing is not a valid device option"):
        profile(use_device="nothing")
    with pytest.warns(FutureWarning, match="`use_cuda` will be deprecated soon"):
        with pytest.warns(UserWarning, match="CUDA is not available"):
            profile(use_cuda=True)
    with prof:
        x * y
    assert names(prof) == ["aten::mul"]


def test_wrong_options_are_errors(tmp_path):
    with pytest.raises(AssertionError, match="Device-only events supported only with Kineto"):
        profile(use_cpu=False)
    with profile() as prof:
        pass
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        prof.export_stacks(tmp_path / "stacks.txt")
    with profile(with_stack=True) as prof:
        pass
    with pytest.raises(ValueError, match="metric should be one of: \\['self_cpu_time_total'"):
        prof.export_stacks(tmp_path / "stacks.txt", "foo")
    with pytest.raises(RuntimeError, match="but instead found type 'int'"), record_function(3):
        pass
