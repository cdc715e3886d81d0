"""Derivatives and batches as functions of functions: `torch.func`."""

from tapegrad.func.functional_call import (
    functional_call,
    functionalize,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from tapegrad.func.grad import grad, grad_and_value
from tapegrad.func.jacobian import hessian, jacfwd, jacrev
from tapegrad.func.jvp import jvp
from tapegrad.func.level import debug_unwrap
from tapegrad.func.rearrange import rearrange
from tapegrad.func.vjp import linearize, vjp
from tapegrad.func.vmap import vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian",
    "jacfwd", "jacrev", "jvp", "linearize", "rearrange", "replace_all_batch_norm_modules_",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip
