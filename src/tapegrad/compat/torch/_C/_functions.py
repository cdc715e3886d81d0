"""`torch._C._functions`: nodes of the graph, and functions that make some for tests."""

from tapegrad.autograd.function import Function
from tapegrad.autograd.function.node import Error
from tapegrad.autograd.history import CopySlices
from tapegrad.autograd.node import AccumulateGrad
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.missing import refuses as _refuses

__all__ = ["AccumulateGrad", "CopySlices", "DelayedError", "Error", "UndefinedGrad"]


class _Undefined(Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Any:
        ctx.n = len(tensors)
        found = tuple([x.view_as(x) for x in tensors])
        return found if len(found) > 1 else found[0]

    @staticmethod
    def backward(ctx: Any, *grads: object) -> Any:
        return (None,) * ctx.n


class UndefinedGrad:
    """A function of tensors that gives them back, and no gradient."""

    def __call__(self, *tensors: Tensor) -> Any:
        return _Undefined.apply(*tensors)


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
    """A function of tensors that gives them back, and an error of `message` for their gradients."""

    def __init__(self, message: str, num_inputs: int):
        self._message = message

    def __call__(self, *tensors: Tensor) -> Any:
        return _Delayed.apply(self._message, *tensors)


_Undefined.__name__ = "UndefinedGrad"
__getattr__ = _refuses(__name__)
