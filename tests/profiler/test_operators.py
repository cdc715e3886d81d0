import pytest

import tapegrad as torch
from tapegrad import fx


def test_a_block_is_opened_and_closed_by_calls():
    operators = torch.ops.profiler
    with torch.autograd.profiler.profile() as prof:
        handle = operators._record_function_enter("foo")
        torch.ones(2).relu()
        operators._record_function_exit(handle)
    inside = [event.name for event in prof.function_events]
    assert inside[:3] == ["foo", "aten::empty", "aten::ones"]
    assert str(operators._record_function_enter.default._schema) == (
        "profiler::_record_function_enter(str name, str? args=None) -> Tensor"
    )
    assert "_record_function_exit" in dir(operators)


def test_a_graph_has_blocks():
    graph = fx.Graph()
    x = graph.placeholder("x")
    operators = torch.ops.profiler
    handle = graph.call_function(operators._record_function_enter, ("foo",))
    y = graph.call_function(torch.relu, (x,))
    graph.call_function(operators._record_function_exit, (handle,))
    graph.output(y)
    module = fx.GraphModule(torch.nn.Module(), graph)
    assert '_record_function_enter = torch.ops.profiler._record_function_enter("foo")' in (
        module.code.replace("'", '"')
    )
    x = torch.tensor([-1.0, 2.0])
    with torch.autograd.profiler.profile() as prof:
        y = module(x)
    assert y.tolist() == [0.0, 2.0]
    assert prof.function_events[0].name == "foo"


def test_what_is_no_handle_closes_nothing():
    with pytest.raises(RuntimeError, match="Expected temporary cpp type wrapper"):
        torch.ops.profiler._record_function_exit(torch.ones(2))
