"""`torch._C._functions`: nodes of the graph, and functions that tests of graphs are made with."""

from tapegrad.autograd.function import Function
from tapegrad.autograd.function.node import Error
from tapegrad.autograd.gradcheck.undefined_and_layout import UndefinedGrad as _Undefined
from tapegrad.autograd.history import CopySlices
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.missing import refuses as _refuses

__all__ = ["AccumulateGrad", "CopySlices", "DelayedError", "Error", "UndefinedGrad"]


class UndefinedGrad:
    """A function that gives a tensor back, and no gradient."""

    def __call__(self, tensor: Tensor) -> Any:
        return _Undefined.apply(tensor)


class _Delayed(Function):
    @staticmethod
    def forward(ctx: Any, message: str, *tensors: Tensor) -> Any:
        ctx.message = message
        found = tuple([x.detach() for x in tensors])
        return found if len(found) > 1 else found[0]

    @staticmethod
    def backward(ctx: Any, *grads: object) -> Any:
        raise RuntimeError(ctx.message)


class DelayedError:
    """A function that gives tensors back, and an error of `message` for their gradients."""

    def __init__(self, message: str, num_inputs: int):
        self._message = message

    def __call__(self, *tensors: Tensor) -> Any:
        return _Delayed.apply(self._message, *tensors)


__getattr__ = _refuses(__name__)
