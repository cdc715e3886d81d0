"""What programs import of the helpers of PyTorch's compiler."""

from collections import Counter, defaultdict

from tapegrad.core.errors import warn
from tapegrad.core.missing import refuses as _refuses

__all__ = ["counters", "is_compile_supported", "warn_once"]

_said: set[str] = set()
counters: defaultdict[str, Counter] = defaultdict(Counter)
"""What the compiler has counted: nothing."""


def warn_once(msg: str, stacklevel: int = 1) -> None:
    """Give a warning of each text once, where it is called or `stacklevel - 1` calls above."""
    if msg not in _said:
        _said.add(msg)
        warn(msg, stacklevel + 1)


def is_compile_supported(device_type: str) -> bool:
    """Whether functions can be compiled for a device: not here."""
    return False


__getattr__ = _refuses(__name__)
