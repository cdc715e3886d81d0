"""`torch._C._special`: what `torch.special` has, called `special_...` as PyTorch's C code calls it.

`torch.fx` writes them so in the code of graphs.
"""

from typing import Any

from tapegrad import special as _special
from tapegrad.core.missing import missing as _missing


def __getattr__(name: str) -> Any:
    """A function of `torch.special`, whose name follows `special_`."""
    family, _, rest = name.partition("_")
    if family == "special" and rest in _special.__all__:
        return getattr(_special, rest)
    raise _missing(__name__, name)
