"""Derivatives and batches as functions of functions: `torch.func`."""

from tapegrad.func.batch import vmap
from tapegrad.func.forward import jvp
from tapegrad.func.jacobian import hessian, jacfwd, jacrev
from tapegrad.func.module import functional_call, stack_module_state
from tapegrad.func.reverse import grad, grad_and_value, linearize, vjp

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
