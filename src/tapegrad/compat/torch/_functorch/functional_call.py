"""`torch._functorch.functional_call`: modules called with other tensors."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.func import functional_call, stack_module_state

__all__ = ["functional_call", "stack_module_state"]

__getattr__ = _refuses(__name__)
