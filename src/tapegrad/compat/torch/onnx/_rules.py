"""Modules of rules by which operators are exported, one for each version of ONNX.

Each name in them is a rule, and refuses when it is called.
"""

from typing import Any

from tapegrad.compat.refusal import refusing
from tapegrad.core.made_module import made_module


def add_rules(package: str, version: int, advice: str) -> None:
    """Have `symbolic_opset<version>` in a package."""
    path = f"{package}.symbolic_opset{version}"

    def __getattr__(name: str) -> Any:
        known = "" if name.startswith(("__", "pytest")) else name  # no rules, but often asked
        return refusing(path, advice, functions=known)(name)

    made_module(path, f"Rules of ONNX's version {version}, by name.", __getattr__)
