"""What the examples in docstrings find when they run, and how many threads tests may start."""

import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

# Workers side by side, each with the threads of its BLAS, wait for one another: on two busy cores a
# 50x64 by 64x512 product took 6 ms with two threads and 0.05 ms with one. NumPy reads this once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tapegrad  # first, so that a module collected by itself finds its package complete
from tests import needs

pytest_plugins = ["tests.tiers"]

SOURCE = Path(tapegrad.__file__).parent

tapegrad.set_warn_always(True)  # what one test is warned of, the next one is as well

# Modules whose examples need a package; and those that cannot be imported without one.
PACKAGES = {
    SOURCE / "safetensors.py": ("safetensors", "test"),
    SOURCE / "inspect" / "plot.py": ("matplotlib", "test-all"),
}
NOT_IMPORTED = {
    "tensorboard": "src/tapegrad/utils/tensorboard/*.py",
    "optree": "src/tapegrad/compat/torch/utils/_cxx_pytree.py",
}
collect_ignore_glob = [files for package, files in NOT_IMPORTED.items() if not find_spec(package)]
# pytest asks each module for `pytest_plugins`, and this one has every name
collect_ignore_glob.append("src/tapegrad/compat/torch/classes.py")


@hypothesis.given(hypothesis.strategies.booleans())
def _find_generators(_):
    """Hypothesis looks for random generators through the garbage collector, and only once."""


def pytest_collection_finish():
    """Let the garbage collector pass over what was there before: tests have it walk often."""
    _find_generators()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _names_for_doctests(request, doctest_namespace, monkeypatch):
    doctest_namespace.update(tapegrad=tapegrad, torch=tapegrad)
    if request.path in PACKAGES:
        package, extra = PACKAGES[request.path]
        needs.package(package, "is used by the examples", extra)
    if request.path.parent == SOURCE / "compat":
        # Its examples import `torch`, which a test that compares with PyTorch may have loaded.
        for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
            monkeypatch.delitem(sys.modules, name)
