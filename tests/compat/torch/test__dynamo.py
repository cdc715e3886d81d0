"""PyTorch's tracing of bytecode, as far as programs name it."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compat.torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex

dynamo = torch._dynamo


def test_it_is_not_supported():
    assert dynamo.is_dynamo_supported() is dynamo.is_inductor_supported() is False
    assert dynamo.utils.is_compile_supported("cpu") is dynamo.is_compiling() is False


def test_notes_stay_on_tensors():
    x = torch.ones(2, 3)
    dynamo.mark_dynamic(x, 0)
    dynamo.mark_static(x)
    dynamo.maybe_mark_dynamic(x, [0, 1])
    dynamo.mark_static_address(x)
    assert x._dynamo_dynamic_indices == {0} and x._dynamo_static_indices == {0, 1}
    assert x._dynamo_weak_dynamic_indices == {0, 1}
    assert x._dynamo_static_input_type == "unguarded"
    assert dynamo.mark_static(nn.Linear) is nn.Linear
    del nn.Linear._dynamo_marked_static


@pytest.mark.filterwarnings("ignore:torch.compile:UserWarning")
def test_functions_run_as_they_are():
    def f(x):
        dynamo.graph_break()
        return x

    assert dynamo.optimize("eager")(f) is dynamo.run(f) is dynamo.disallow_in_graph(f) is f
    with dynamo.error_on_graph_break(True):
        assert f(1) == 1
    with TransformGetItemToIndex():
        rows = torch.func.vmap(lambda i: torch.arange(4)[i])(torch.tensor([2, 0]))
    assert rows.tolist() == [2, 0]


def test_export_is_refused():
    with pytest.raises(NotImplementedError, match="there is no graph to export"):
        dynamo.export(len)


def test_backends_are_those_that_are_registered():
    def backend(graph, inputs):
        return graph.forward

    assert dynamo.register_backend(backend, name="mine", tags=("debug",)) is backend
    assert "mine" not in dynamo.list_backends() and "mine" in dynamo.list_backends(None)
    assert dynamo.lookup_backend("mine") is dynamo.lookup_backend(backend) is backend
    for given in (backend, "mine"):
        f = torch.compile(lambda x: x * 2, backend=given)
        assert f(torch.ones(2)).tolist() == [2, 2] and "l_x_ * 2" in f.source
    with pytest.raises(NotImplementedError, match="tapegrad has no compiler 'inductor'"):
        dynamo.lookup_backend("inductor")
    with pytest.raises(dynamo.exc.InvalidBackend):
        dynamo.lookup_backend("bouquet")


def test_errors_are_classes():
    assert issubclass(dynamo.exc.Unsupported, RuntimeError)
    assert issubclass(torch._inductor.exc.InductorError, dynamo.exc.BackendCompilerFailed)


def test_modes_are_settings():
    assert torch._inductor.list_mode_options("reduce-overhead") == {"triton.cudagraphs": True}
    assert set(torch._inductor.list_mode_options()) >= {"default", "max-autotune"}
    assert "max_autotune" in torch._inductor.list_options()


def test_a_warning_of_a_text_is_given_once(recwarn):
    from tapegrad.compat.torch._dynamo.utils import warn_once

    for text in ("only once", "only once", "another text"):
        warn_once(text)
    assert [str(each.message) for each in recwarn.list] == ["only once", "another text"]
    assert {each.filename for each in recwarn.list} == {__file__}
