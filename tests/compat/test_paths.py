"""Modules at PyTorch's paths that a table makes."""

from importlib import import_module

import pytest

from tapegrad.compat import paths
from tests.command import run_code

INSTALL = "from tapegrad import compat; compat.install()\n"


@pytest.mark.parametrize("path", sorted(paths.PATHS))
def test_a_row_is_a_module(path):
    module = import_module(paths.ROOT + path)
    assert f"`torch.{path}`" in module.__doc__
    for home, name, here in paths.names_of(path):
        assert getattr(module, here) is getattr(import_module(home), name)
        assert here in module.__all__
    for name in "" if path in paths.OLDER else paths.below(path).split():
        assert getattr(module, name) is import_module(f"{paths.ROOT}{path}.{name}")


def test_rows_are_served_as_modules_of_torch():
    code = """
import torch._dynamo.backends.debugging, torch.nn.quantized.dynamic
from torch._ops import OpOverload
from torch.export import graph_signature
from torch.quantization import QuantStub
from torch.utils.model_zoo import load_url
import torch
assert torch._dynamo.backends.debugging.ExplainOutput and load_url
assert torch.quantization.QuantStub is QuantStub is torch.ao.quantization.QuantStub
assert torch.nn.quantized.dynamic.LSTM is torch.ao.nn.quantized.dynamic.LSTM
assert torch.xpu.memory.empty_cache is torch.xpu.empty_cache
try:
    from torch._ops import toaster
except ImportError as error:
    print(error)
"""
    assert run_code(INSTALL + code).startswith("cannot import name 'toaster' from 'torch._ops'")
