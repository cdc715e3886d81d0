"""`torch._C._fft`: what `torch.fft` has, called `fft_...` as PyTorch's C code calls it.

`torch.fx` writes them so in the code of graphs.
"""

from typing import Any

from tapegrad import fft as _fft
from tapegrad.core.missing import missing as _missing


def __getattr__(name: str) -> Any:
    """A function of `torch.fft`, whose name follows `fft_`."""
    family, _, rest = name.partition("_")
    if family == "fft" and rest in _fft.__all__:
        return getattr(_fft, rest)
    raise _missing(__name__, name)
