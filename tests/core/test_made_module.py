"""Modules that have no file."""

import importlib
import sys

import pytest

from tapegrad.core.made_module import made_module
from tapegrad.core.missing import refuses


def test_a_module_without_a_file_is_imported_by_its_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "tapegrad.nowhere", None)
    module = made_module("tapegrad.nowhere", "A text.", refuses("tapegrad.nowhere"))
    module.number = 3
    assert importlib.import_module("tapegrad.nowhere") is module
    assert module.__doc__ == "A text."
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing
