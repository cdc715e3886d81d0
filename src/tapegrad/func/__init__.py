"""Derivatives and batches as functions of functions: `torch.func`."""

from tapegrad.func.batch import vmap
from tapegrad.func.forward import jvp
from tapegrad.func.jacobian import hessian, jacfwd, jacrev
from tapegrad.func.module import functional_call, stack_module_state
from tapegrad.func.other import functionalize, replace_all_batch_norm_modules_
from tapegrad.func.pulling import linearize, vjp
from tapegrad.func.rearrangement import rearrange
from tapegrad.func.reverse import grad, grad_and_value
from tapegrad.func.tracking import debug_unwrap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
