"""What programs say to the compiler changes nothing."""

from types import SimpleNamespace

import pytest

import tapegrad as torch
from tapegrad import nn


def f(x, y=1):
    return x + y


def test_nothing_is_compiling():
    compiler = torch.compiler
    assert compiler.is_compiling() is compiler.is_dynamo_compiling() is False
    assert compiler.is_exporting() is False and compiler.reset() is None
    assert compiler.save_cache_artifacts() is None is compiler.load_cache_artifacts(b"")


def test_functions_are_left_as_they_are():
    compiler = torch.compiler
    for each in (compiler.disable(f), compiler.disable()(f), compiler.disable(recursive=False)(f)):
        assert each is not f and each(1) == 2 and each.__wrapped__ is f
    assert compiler.allow_in_graph(f) is f and compiler.allow_in_graph([f, len]) == [f, len]
    assert compiler.nested_compile_region(f) is f is compiler.nested_compile_region()(f)
    assert compiler.assume_constant_result(f) is f and f._dynamo_marked_constant


def test_a_module_that_is_disabled_is_wrapped():
    model = nn.ReLU()
    assert torch.compiler.disable(model)._orig_mod is model
    assert torch.compiler.disable(model, recursive=False) is model


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda c: c.disable(3), AssertionError, "fn must be callable"),
        (lambda c: c.allow_in_graph(3), AssertionError, "allow_in_graph expects a callable"),
        (lambda c: c.substitute_in_graph(len)(f), TypeError, "Signature mismatch between"),
        (lambda c: c.set_stance("bla"), RuntimeError, "invalid torch.compile stance 'bla'"),
        (lambda c: c.load_compiled_function(None), NotImplementedError, "has no compiler"),
        (lambda c: c.bouquet, AttributeError, "module 'torch.compiler' has no attribute"),
    ],
)
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text):
        call(torch.compiler)


def test_what_is_substituted_is_called_itself():
    wrapped = torch.compiler.substitute_in_graph(f)(lambda x, y=1: 0)
    assert wrapped(1) == 2 and wrapped.__name__ == "f"


def test_stances_are_blocks_and_decorators():
    with torch.compiler.set_stance("force_eager"):
        assert f(1) == 2
    assert torch.compiler.set_stance("fail_on_recompile")(f)(1) == 2
    torch.compiler.set_stance("default")


def test_numpy_functions_take_tensors():
    wrapped = torch.compiler.wrap_numpy(lambda a, *, b: (a + b["x"], [a * 2], 3))
    total, (double,), three = wrapped(torch.ones(2), b={"x": torch.ones(2)})
    assert total.tolist() == double.tolist() == [2, 2] and three == 3


def test_filters_of_guards():
    def entry(kind, value=None, is_global=False):
        return SimpleNamespace(guard_type=kind, value=value, is_global=is_global)

    entries = [
        entry("TENSOR_MATCH", torch.ones(1)),
        entry("TENSOR_MATCH", nn.Parameter(torch.ones(1))),
        entry("ID_MATCH", 3, is_global=True),
    ]
    compiler = torch.compiler
    assert compiler.keep_tensor_guards_unsafe(entries) == [True, False, False]
    assert compiler.keep_tensor_guards_unsafe(entries, True) == [True, True, False]
    assert compiler.skip_guard_on_globals_unsafe(entries) == [True, True, False]
    assert compiler.skip_all_guards_unsafe(entries) == [False] * 3


def test_collectives_are_a_switch():
    assert torch.compiler.set_enable_guard_collectives(True) is False
    assert torch.compiler.set_enable_guard_collectives(False) is True
