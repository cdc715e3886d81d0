"""`ExecutionTraceObserver`: operators, their tensors and their nodes as a graph in a file."""

import json

import pytest

import tapegrad as torch
from tapegrad.autograd.mode import MODE
from tapegrad.profiler import ExecutionTraceObserver, profile, record_function, schedule

EMPTY = {"values": [], "shapes": [], "types": [], "strides": []}
EVALUATE = "autograd::engine::evaluate_function: "


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.json"


@pytest.fixture
def observer(path):
    return ExecutionTraceObserver().register_callback(str(path))


def nodes_of(path):
    return json.loads(path.read_text())["nodes"]


def names(path):
    return [node["name"] for node in nodes_of(path) if not node["name"].startswith("[")]


def attributes(node):
    return {each["name"]: each["value"] for each in node["attrs"]}


def test_operators_their_inputs_and_outputs_are_written(observer, path):
    x = torch.ones(2, 3, requires_grad=True)
    observer.start()
    with record_function("block"):
        y = x.t() * 2.5
    y.sum().backward()
    observer.stop()
    observer.unregister_callback()
    trace = json.loads(path.read_text())
    assert trace["schema"] == "1.1.1-chakra.0.0.4"
    assert {"pid", "time", "start_ts", "finish_ts"} <= trace.keys()
    by_name = {node["name"]: node for node in trace["nodes"]}
    transpose, mul = by_name["aten::t"], by_name["aten::mul"]
    assert mul["inputs"]["shapes"] == [[3, 2], []]
    assert mul["inputs"]["strides"] == [[1, 3], []]
    assert mul["inputs"]["types"] == ["Tensor(float)", "Double"]
    view, number = mul["inputs"]["values"]
    assert number == 2.5
    assert transpose["outputs"]["values"] == [view]
    (base,) = transpose["inputs"]["values"]
    assert base[0] != view[0] and base[1:] == view[1:]  # another tensor in the same memory
    assert base[2:] == [0, 6, 4, "cpu"]
    block, process = by_name["block"], by_name["[pytorch|profiler|execution_trace|process]"]
    thread = by_name["[pytorch|profiler|execution_trace|thread]"]
    assert mul["ctrl_deps"] == transpose["ctrl_deps"] == block["id"]
    assert block["ctrl_deps"] == thread["id"] and thread["ctrl_deps"] == process["id"] == 1
    assert block["inputs"] == block["outputs"] == EMPTY


def test_nodes_of_the_backward_pass_are_written(observer, path):
    x = torch.ones(2, 3, requires_grad=True)
    observer.start()
    (x * 2).sum().backward()
    observer.stop()
    observer.unregister_callback()
    by_name = {node["name"]: node for node in nodes_of(path)}
    node, around = by_name["MulBackward0"], by_name[EVALUATE + "MulBackward0"]
    forward = attributes(by_name["aten::mul"])
    assert node["inputs"]["shapes"] == [[2, 3]]
    assert node["ctrl_deps"] == around["id"] and around["inputs"] == EMPTY
    found = attributes(node)
    assert (found["scope"], found["fw_tid"], found["fw_parent"]) == (1, 1, around["id"])
    assert found["seq_id"] == forward["seq_id"] >= 0
    leaf = by_name["torch::autograd::AccumulateGrad"]
    assert leaf["inputs"]["shapes"] == [[2, 3]]


def test_every_node_is_written_after_those_inside_it(observer, path):
    observer.start()
    torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))
    torch.cat([torch.ones(1), torch.zeros(2)])
    observer.stop()
    observer.unregister_callback()
    nodes = nodes_of(path)
    assert len({node["id"] for node in nodes}) == len(nodes)
    place = {node["id"]: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        if not node["name"].startswith("["):
            above = nodes[place[node["ctrl_deps"]]]
            assert place[above["id"]] > i or above["name"].endswith("|thread]")
    assert names(path).index("aten::addmm") < names(path).index("aten::linear")
    cat = next(node for node in nodes if node["name"] == "aten::cat")
    assert cat["inputs"]["types"][0] == "GenericList[Tensor(float),Tensor(float)]"
    assert cat["inputs"]["shapes"][0] == [[1], [2]]


def test_a_profile_can_write_one_beside_its_own(observer, path):
    plan = schedule(wait=1, warmup=1, active=1, repeat=1)
    with profile(schedule=plan, execution_trace_observer=observer) as prof:
        for i in range(5):
            torch.ones(i + 1) * 2
            prof.step()
    assert not observer.is_registered
    assert names(path) == ["aten::ones", "aten::mul", "ProfilerStep#2"]
    assert [e.name for e in prof.events()] == ["ProfilerStep*", "aten::ones", "aten::mul"]


def test_it_goes_on_in_the_same_file_until_it_is_unregistered(observer, path):
    assert observer.is_registered and not observer.is_running()
    for function in (torch.exp, torch.log):
        x = torch.ones(2)
        observer.start()
        assert observer.is_running()
        function(x)
        observer.stop()
    assert MODE.get() is True
    observer.register_callback("elsewhere.json")  # too late
    assert observer.get_output_file_path() == str(path)
    observer.cleanup()
    assert names(path) == ["aten::exp", "aten::log"]
    assert not observer.is_registered
    observer.start()
    assert not observer.is_running()


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    observer = ExecutionTraceObserver()
    with pytest.raises(OSError):
        observer.register_callback(str(tmp_path / "missing" / "trace.json"))
    assert not observer.is_registered
    observer.start()
    observer.stop()
    observer.unregister_callback()


def test_the_environment_can_ask_for_one(monkeypatch):
    build = ExecutionTraceObserver.build_execution_trace_obs_from_env
    monkeypatch.delenv("ENABLE_PYTORCH_EXECUTION_TRACE", raising=False)
    assert build() is None
    monkeypatch.setenv("ENABLE_PYTORCH_EXECUTION_TRACE", "1")
    with profile() as prof:
        torch.ones(2)
    with open(prof.execution_trace_observer.get_output_file_path()) as file:
        assert "aten::ones" in [node["name"] for node in json.load(file)["nodes"]]


def test_an_observer_of_ones_own_is_told_of_each_cycle():
    class Mine:
        def __init__(self):
            self.calls = []

        def start(self):
            self.calls.append("start")

        def stop(self):
            self.calls.append("stop")

        def cleanup(self):
            self.calls.append("cleanup")

    mine = Mine()
    with profile(execution_trace_observer=mine):
        torch.ones(2)
    assert mine.calls == ["start", "stop", "cleanup"]
