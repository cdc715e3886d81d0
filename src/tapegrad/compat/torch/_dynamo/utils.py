"""What programs import of the helpers of PyTorch's compiler."""

from collections import Counter, defaultdict

from tapegrad.core.missing import refuses as _refuses

__all__ = ["counters", "is_compile_supported"]

counters: defaultdict[str, Counter] = defaultdict(Counter)
"""What the compiler has counted: nothing."""


def is_compile_supported(device_type: str) -> bool:
    """Whether functions can be compiled for a device: not here."""
    return False


__getattr__ = _refuses(__name__)
