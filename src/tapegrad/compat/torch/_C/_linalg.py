"""`torch._C._linalg`: what `torch.linalg` has, called `linalg_...` as PyTorch's C code calls it.

`torch.fx` writes them so in the code of graphs.
"""

from typing import Any

from tapegrad import linalg as _linalg
from tapegrad.core.missing import missing as _missing


def __getattr__(name: str) -> Any:
    """A function of `torch.linalg`, whose name follows `linalg_`."""
    family, _, rest = name.partition("_")
    if family == "linalg" and rest in _linalg.__all__:
        return getattr(_linalg, rest)
    raise _missing(__name__, name)
