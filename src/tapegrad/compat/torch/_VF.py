"""`torch._VF`: the functions of `torch` as PyTorch's own Python calls them."""

from typing import Any

import tapegrad
from tapegrad.core.missing import missing as _missing


def __getattr__(name: str) -> Any:
    """The function of `torch` of that name."""
    if name[:2] != "__":
        found = getattr(tapegrad, name, None)
        if callable(found):
            return found
    raise _missing(__name__, name)
