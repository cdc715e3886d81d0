"""Functions that PyTorch's compiler knows: those that programs import."""

from tapegrad.compiler.decorators import is_compiling
from tapegrad.core.missing import refuses as _refuses

__all__ = ["is_compiling", "wrap_inline"]


def wrap_inline(fn):
    """A function of which the compiler would trace the inside: as it is."""
    return fn


__getattr__ = _refuses(__name__)
