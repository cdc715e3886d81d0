"""Libraries are built in the background, once, and kept on disk."""

import warnings

import pytest

from tapegrad.backends.native import libraries
from tests.command import python, run_code
from tests.compiler.c_programs import needs_compiler

USE = """
import warnings
import numpy as np
import tapegrad as torch
from tapegrad.backends.native import libraries

x = torch.linspace(-2, 2, 60).reshape(3, 20)
want = torch.nn.functional.softmax(x, 1).numpy()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.backends.native.enabled = True
    for _ in range(3):
        found = torch.nn.functional.softmax(x, 1).numpy()
        torch.nn.functional.gelu(x)
        torch.backends.native.wait()
assert np.allclose(found, want, rtol=1e-6)
print(sorted(libraries._found))
for each in caught:
    print(each.message)
"""


def used(**environment):
    result = python("-c", USE, **environment)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@needs_compiler()
def test_a_second_process_finds_on_disk_what_the_first_has_compiled(tmp_path):
    first = used(TAPEGRAD_CACHE_DIR=str(tmp_path))
    assert first == ["['tg_gelu_array_f32', 'tg_softmax_f32']"]
    made = {x: x.stat().st_mtime_ns for x in tmp_path.rglob("program.so")}
    assert len(made) == 2
    assert used(TAPEGRAD_CACHE_DIR=str(tmp_path)) == first
    assert {x: x.stat().st_mtime_ns for x in tmp_path.rglob("program.so")} == made


def test_without_a_compiler_numpy_computes_and_one_warning_says_so(tmp_path):
    found, *said = used(TAPEGRAD_CACHE_DIR=str(tmp_path), CC="/nowhere/cc")
    assert found == "[]"
    assert len(said) == 1
    assert said[0].startswith("torch.backends.native computes with NumPy: /nowhere/cc does not run")


def test_a_compiler_that_fails_is_told_of_once(tmp_path):
    broken = tmp_path / "cc"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo broken 1.0\nexit 3\n')
    broken.chmod(0o755)
    found, *said = used(TAPEGRAD_CACHE_DIR=str(tmp_path / "cache"), CC=str(broken))
    assert found == "[]"
    assert "failed with 3" in "\n".join(said)
    assert sum("computes with NumPy" in each for each in said) == 1


@needs_compiler()
def test_what_could_not_be_built_can_be_asked_for_again(cache, monkeypatch):
    def failing(function):
        raise libraries.CompilerMissing("the disk is full")

    monkeypatch.setattr(libraries, "_found", {})
    monkeypatch.setattr(libraries, "_asked", set())
    monkeypatch.setattr(libraries, "_failures", [])
    monkeypatch.setattr(libraries, "_warned", set())
    monkeypatch.setattr(libraries, "_made", failing)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name in ("tg_softmax_f64", "tg_gelu_array_f64", "tg_pick_f64", "tg_adam_f64"):
            assert libraries.library(name) is None
            libraries.wait()
            assert libraries.library(name) is None
    assert "tg_adam_f64" not in libraries._asked  # enough have failed
    (said,) = [str(each.message) for each in caught]
    assert said == "torch.backends.native computes with NumPy: the disk is full"
    monkeypatch.undo()
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(cache))
    libraries.forget_failures()
    libraries.library("tg_softmax_f64")
    libraries.wait()
    assert libraries.library("tg_softmax_f64") is not None


def test_importing_tapegrad_loads_nothing_of_it():
    code = "import sys, tapegrad; print([x for x in sys.modules if 'native' in x and 'tape' in x])"
    assert run_code(code).strip() in ("[]", "['tapegrad.core.native_arguments']")


@needs_compiler()
def test_the_environment_switches_it_on(tmp_path):
    code = "import tapegrad as torch; print(torch.backends.native.enabled)"
    for given, said in (("1", "True"), ("0", "False"), ("", "False")):
        result = python("-c", code, TAPEGRAD_NATIVE=given, TAPEGRAD_CACHE_DIR=str(tmp_path))
        assert (result.stdout.strip(), result.stderr) == (said, "")


@pytest.mark.parametrize("given", ["yes", "2"])
def test_the_environment_says_one_or_zero(given):
    result = python("-c", "import tapegrad", TAPEGRAD_NATIVE=given)
    assert f"TAPEGRAD_NATIVE is {given!r}" in result.stderr
