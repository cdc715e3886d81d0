"""Modules of PyTorch's insides, served under their names."""

import pytest

import tapegrad as torch
from tapegrad.compat.insides import module_of
from tests.command import run_code

INSTALL = "from tapegrad import compat; compat.install()\n"


def test_an_inside_is_an_attribute_and_a_module_of_torch():
    code = """
import torch
assert torch.types.Number == int | float | bool
import torch.types as types
from torch.types import Device
assert types is torch.types and sys.modules["torch.types"] is types
"""
    run_code("import sys\n" + INSTALL + code)


def test_torch_torch_is_torch():
    run_code(INSTALL + "import torch.torch; import torch; assert torch.torch is torch")
    assert torch.torch is torch


def test_what_is_nowhere_is_missing():
    code = """
import torch
assert not hasattr(torch, "no_such_thing")
for name in ("torch.no_such_thing", "torch.types.no_such_thing", "torch.nn.no.such.thing"):
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error.name)
"""
    assert run_code(INSTALL + code).split() == [
        "torch.no_such_thing",
        "torch.types.no_such_thing",
        "torch.nn.no",
    ]


def test_insides_are_loaded_on_first_use_and_hide_nothing():
    loaded = "import tapegrad, sys; print([n for n in sys.modules if 'tapegrad.compat' in n])"
    assert run_code(loaded) == "[]\n"
    assert module_of("__wrapped__") is None and module_of("nn_") is None


@pytest.mark.parametrize("name", ["SymInt", "SymFloat", "SymBool"])
def test_symbols_have_no_values(name):
    kind = getattr(torch, name)
    assert not isinstance(3, kind)
    with pytest.raises(NotImplementedError, match=f"torch.{name} has no values"):
        kind(3)
