"""What the examples in docstrings find when they run."""

import sys

import pytest

import tapegrad  # first, so that a module collected by itself finds its package complete


@pytest.fixture(autouse=True)
def _names_for_doctests(request, doctest_namespace, monkeypatch):
    doctest_namespace.update(tapegrad=tapegrad, torch=tapegrad)
    if request.path.name == "compat.py":
        # Its examples import `torch`, which a test that compares with PyTorch may have loaded.
        for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
            monkeypatch.delitem(sys.modules, name)
