"""Rules by which operators are exported: each name is one, and refuses when it is called."""

from collections.abc import Callable
from typing import Any

from tapegrad.compat.refusal import refusing
from tapegrad.compat.torch.onnx import ADVICE


def refusing_rules(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module of rules."""

    def __getattr__(name: str) -> Any:
        known = "" if name.startswith(("__", "pytest")) else name  # no rules, but often asked
        return refusing(module, ADVICE, functions=known)(name)

    return __getattr__
