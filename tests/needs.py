"""What some tests need beyond the extra `test`.

Where it is missing they are skipped, and the reason says how to get it.
"""

import shutil
import warnings

import pytest

import tapegrad


def package(name, use, extra="test-all"):
    """The module `name`, or no test; `use` says what it does there."""
    __tracebackhide__ = True  # the skip is reported where it is asked for
    return pytest.importorskip(name, reason=f"pip install -e '.[{extra}]': {name} {use}")


def program(names, use):
    """The path of the first of the programs `names` that is installed, or no test."""
    __tracebackhide__ = True
    found = [path for name in names.split() if (path := shutil.which(name))]
    if not found:
        pytest.skip(f"{' or '.join(names.split())} is not among the programs installed here: {use}")
    return found[0]


def pytorch():
    """PyTorch, or no test."""
    __tracebackhide__ = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = package("torch", "is what tapegrad is compared with", extra="oracle")
    if module is tapegrad:
        pytest.skip("`import torch` is served by tapegrad: there is nothing to compare with")
    return module
