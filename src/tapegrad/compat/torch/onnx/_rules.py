"""Modules of rules by which operators are exported, one for each version of ONNX.

Each name in them is a rule, and refuses when it is called.
"""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tapegrad.compat.refusal import refusing


def add_rules(package: str, version: int, advice: str) -> None:
    """Have `symbolic_opset<version>` in a package."""
    spec = ModuleSpec(f"{package}.symbolic_opset{version}", None)
    module: Any = ModuleType(spec.name, f"Rules of ONNX's version {version}, by name.")

    def __getattr__(name: str) -> Any:
        known = "" if name.startswith(("__", "pytest")) else name  # no rules, but often asked
        return refusing(spec.name, advice, functions=known)(name)

    module.__getattr__, module.__spec__ = __getattr__, spec
    sys.modules[spec.name] = module
