"""Entries of libraries: a tuple of arrays and a table of numbers."""

import numpy as np
import pytest

from tapegrad.backends.native import entry, plan
from tapegrad.backends.native.front import front
from tapegrad.compiler.c_backend import cache as on_disk
from tapegrad.compiler.c_backend.toolchain import compiler
from tests.compiler.c_programs import needs_compiler

pytestmark = [needs_compiler(), pytest.mark.usefixtures("native")]


def test_the_text_depends_on_the_function_alone():
    found = entry.entry("tg_softmax_shared_f32")
    assert found == entry.entry("tg_softmax_shared_f32")
    assert (found.products, found.shares) == ([], True)
    assert "int enter(const number *numbers, const char *arrays, int64_t threads)" in found.source
    assert entry.entry("tg_matmul_shared_f64").products == ["f64"]


def test_where_objects_cannot_be_read_a_table_of_addresses_is_given(monkeypatch):
    monkeypatch.setattr(entry, "offsets", lambda: None)
    monkeypatch.setattr(plan, "handed", entry._addresses)
    made = entry.entry("tg_softmax_f32")
    enter = entry.bound(made, on_disk.library(made.source, compiler()))
    monkeypatch.setattr("tapegrad.backends.native.front.library", lambda function: enter)
    native = front("softmax_along", lambda x, axis: np.exp(x) / np.exp(x).sum(axis, keepdims=True))
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    want = native(x, 1)
    np.testing.assert_allclose(native(x, 1), want, rtol=1e-6)
