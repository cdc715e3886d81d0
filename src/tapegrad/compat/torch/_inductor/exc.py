"""Errors of PyTorch's generator of kernels, for programs that catch them."""

from tapegrad.compat.torch._dynamo.exc import BackendCompilerFailed
from tapegrad.core.missing import refuses as _refuses

__all__ = ["InductorError"]


class InductorError(BackendCompilerFailed):
    """A kernel that cannot be generated."""


__getattr__ = _refuses(__name__)
