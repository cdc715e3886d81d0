"""PyTorch, where it is installed."""

import warnings

import pytest

import tapegrad


@pytest.fixture(scope="session")
def pytorch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = pytest.importorskip("torch", reason="PyTorch is not installed")
    if module is tapegrad:
        pytest.skip("`import torch` is served by tapegrad: there is nothing to compare with")
    return module
