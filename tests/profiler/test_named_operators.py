import pytest

import tapegrad as torch


def recorded(run):
    with torch.autograd.profiler.profile() as prof:
        run()
    return {e.name: [c.name for c in e.cpu_children] for e in prof.function_events}


def test_a_block_is_entered_and_left_by_calls():
    def run():
        handle = torch.ops.profiler._record_function_enter("block")
        assert handle.dtype == torch.uint8
        torch.ones(2).relu()
        assert torch.ops.profiler._record_function_exit(handle) is None
        torch.ones(2).exp()

    events = recorded(run)
    assert events["block"] == ["aten::ones", "aten::relu"]
    assert "aten::exp" in events


def test_a_block_ends_where_its_handle_is_dropped():
    def run():
        handle = torch.ops.profiler._record_function_enter("block", "a note")
        torch.ones(2).relu()
        del handle
        torch.ones(2).exp()

    assert recorded(run)["block"] == ["aten::ones", "aten::relu"]


def test_a_traced_graph_keeps_the_calls():
    class Tracer(torch.fx.Tracer):
        def trace(self, root, concrete_args=None):
            enter = torch.profiler.record_function.__enter__
            leave = torch.profiler.record_function.__exit__

            def entered(block):
                block.proxy = self.create_proxy(
                    "call_function", torch.ops.profiler._record_function_enter, (block.name,), {}
                )
                return block

            def left(block, *error):
                torch.ops.profiler._record_function_exit(block.proxy)

            torch.profiler.record_function.__enter__ = entered
            torch.profiler.record_function.__exit__ = left
            try:
                return super().trace(root, concrete_args)
            finally:
                torch.profiler.record_function.__enter__ = enter
                torch.profiler.record_function.__exit__ = leave

    class Model(torch.nn.Module):
        def forward(self, x):
            with torch.profiler.record_function("block"):
                return torch.relu(x)

    tracer = Tracer()
    graph = tracer.trace(Model())
    traced = torch.fx.GraphModule(tracer.root, graph)
    assert [str(node.target) for node in graph.nodes][1:2] == ["profiler._record_function_enter"]
    events = recorded(lambda: traced(torch.ones(2)))
    assert events["block"] == ["aten::relu"]


def test_a_handle_without_a_block_is_refused():
    handle = torch.ops.profiler._record_function_enter("block")
    torch.ops.profiler._record_function_exit(handle)
    with pytest.raises(RuntimeError, match="no block is open"):
        torch.ops.profiler._record_function_exit(handle)
    with pytest.raises(RuntimeError, match="Expected a value of type 'str' for argument 'name'"):
        torch.ops.profiler._record_function_enter(3)
    assert dir(torch.ops.profiler) == ["_record_function_enter", "_record_function_exit"]
