"""Compiling in the background gives the runner when it is ready, or what went wrong."""

import time

import numpy as np
import pytest

from tapegrad.arrays.traced.program import Program
from tapegrad.compiler.c_backend import CompilerMissing, build_async
from tests.compiler.c_programs import needs_compiler

pytestmark = needs_compiler()


def recorded():
    with Program() as program:
        y = program.input(np.arange(4.0)) * 2.0
    return program, [y.place]


def test_the_runner_is_there_when_it_is_ready(tmp_path, monkeypatch):
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path))
    pending = build_async(*recorded())
    until = time.monotonic() + 60
    while pending.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    np.testing.assert_array_equal(pending.poll()(np.ones(4))[0], np.full(4, 2.0))
    assert pending.wait() is pending.poll()


def test_an_error_is_raised_to_who_asks(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(tmp_path / "file" / "below"))
    pending = build_async(*recorded())
    with pytest.raises(CompilerMissing, match="cannot be written"):
        pending.wait()
