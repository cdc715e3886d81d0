"""Where PyTorch evaluates traced frames: what programs import from there."""

from tapegrad.compiler.decorators import disable, set_stance
from tapegrad.compiler.optimized_module import OptimizedModule
from tapegrad.core.missing import refuses as _refuses

__all__ = [
    "OptimizedModule",
    "disable",
    "is_dynamo_supported",
    "is_inductor_supported",
    "set_stance",
]


def is_dynamo_supported() -> bool:
    """Whether functions can be compiled: not here."""
    return False


def is_inductor_supported() -> bool:
    """Whether kernels can be generated: not here."""
    return False


__getattr__ = _refuses(__name__)
