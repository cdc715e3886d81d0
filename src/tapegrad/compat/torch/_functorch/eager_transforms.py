"""`torch._functorch.eager_transforms`: derivatives as functions of functions."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.func import (
    debug_unwrap,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)

__all__ = [
    "debug_unwrap", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "vjp", "vmap",
]  # fmt: skip

__getattr__ = _refuses(__name__)
