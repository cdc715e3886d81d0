"""Derivatives as functions of functions: `torch.func`."""

from tapegrad.func.forward import jvp

__all__ = ["jvp"]
