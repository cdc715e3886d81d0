"""Derivatives as functions of functions: `torch.func`."""

from tapegrad.func.forward import jvp
from tapegrad.func.module import functional_call, stack_module_state

__all__ = ["functional_call", "jvp", "stack_module_state"]
