"""Kernels in C during a test, from a cache that all tests of a session share."""

import os

import pytest

import tapegrad
from tapegrad.backends.native import libraries


@pytest.fixture
def cache(tmp_path_factory, monkeypatch):
    """A cache on disk of the session's own."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root  # all workers share it
    folder = root / "native-cache"
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def native(cache):
    """`torch.backends.native`, switched on; the number of threads is as before afterwards."""
    before = tapegrad.get_num_threads()
    with tapegrad.backends.native.flags(enabled=True):
        yield tapegrad.backends.native
    tapegrad.set_num_threads(before)
    libraries.wait()
