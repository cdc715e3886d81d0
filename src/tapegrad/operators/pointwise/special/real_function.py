"""How functions of `torch.special` are declared that are not made for complex numbers."""

from tapegrad.core.annotations import Callable
from tapegrad.dispatch.op import constant_elementwise, elementwise
from tapegrad.operators.dtype_check import COMPLEX, lacks, wide_only


def real_function(*kernels: str, narrow: bool = True) -> Callable:
    """An operator on real numbers, which computes with these kernels; its name says its node's.

    Without `narrow`, it is not made for numbers of 16 bits.
    """

    def decorate(function: Callable) -> Callable:
        name = function.__name__
        node = f"Special{name.title().replace('_', '')}Backward0"
        check = lacks(f"{name}_cpu", COMPLEX) if narrow else wide_only(f"{name}_cpu")
        return elementwise(promote="float", node=node, kernels=kernels, check=check)(function)

    return decorate


def constant_function(*kernels: str) -> Callable:
    """The same without derivative, and not for numbers of 16 bits."""

    def decorate(function: Callable) -> Callable:
        check = wide_only(f"{function.__name__}_cpu")
        return constant_elementwise(promote="float", kernels=kernels, check=check)(function)

    return decorate
