"""Deprecations of `torch.jit`: which functions warn, and where."""

import warnings

import pytest

import tapegrad as torch


def warned(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(each.category is DeprecationWarning for each in found)
    return [str(each.message).split("`")[1].removeprefix("torch.jit.") for each in found]


def add_one(x):
    return x + 1


def test_functions_of_jit_are_deprecated_as_in_pytorch(tmp_path):
    x, layer = torch.ones(2), torch.nn.ReLU().eval()
    assert warned(lambda: torch.jit.script(add_one)) == ["script"]
    assert warned(lambda: torch.jit.script(layer)) == ["script"]
    assert warned(lambda: torch.jit.trace(add_one, x)) == ["trace", "trace"]
    assert warned(lambda: torch.jit.trace(add_one, x, check_trace=False)) == ["trace"]
    assert warned(lambda: torch.jit.trace(layer, x)) == ["trace", "trace_method", "trace_method"]
    assert warned(lambda: torch.jit.trace_module(layer, {"forward": x})) == ["trace_method"] * 2
    traced, path = torch.jit.trace(layer, x), tmp_path / "traced"
    assert warned(lambda: traced.save(path)) == []
    assert warned(lambda: torch.jit.save(traced, path)) == ["save"]
    assert warned(lambda: torch.jit.load(path)) == ["load"]
    assert warned(lambda: torch.jit.freeze(traced)) == ["freeze"]
    both = ["optimize_for_inference", "freeze"]
    assert warned(lambda: torch.jit.optimize_for_inference(traced)) == both
    assert warned(lambda: torch.jit.wait(torch.jit.fork(add_one, x))) == ["fork", "wait"]
    assert warned(lambda: torch.jit.interface(torch.nn.Module)) == ["interface"]
    assert warned(lambda: torch.jit.script_method(add_one)) == ["script_method"]
    strategy = [("STATIC", 2), ("DYNAMIC", 10)]
    assert warned(lambda: torch.jit.set_fusion_strategy(strategy)) == ["set_fusion_strategy"]
    assert warned(lambda: (traced(x), torch.jit.is_tracing(), torch.jit.unused(add_one))) == []


def test_the_warning_is_in_the_file_of_the_function():
    """So Python, which shows such warnings of the program itself alone, shows none."""
    with pytest.warns(DeprecationWarning) as found:
        torch.jit.script(add_one)
    assert str(found[0].message) == (
        "`torch.jit.script` is deprecated. Please switch to `torch.compile` or `torch.export`."
    )
    assert found[0].filename.endswith("_script.py")
