"""Variable: the name under which tensors once had gradients."""

from typing import Any

from tapegrad.core import errors, tensor_base
from tapegrad.core.errors import warn
from tapegrad.core.tensor_base import TensorBase


class VariableMeta(type):
    """Every tensor is an instance of `Variable`."""

    @property
    def _execution_engine(cls) -> Any:
        """What queues functions for the end of a backward pass."""
        from tapegrad.autograd.execution_engine import ENGINE

        return ENGINE

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, TensorBase)


class Variable(metaclass=VariableMeta):
    """A tensor without history on the memory of `data`, from the days when gradients were apart.

    >>> x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    >>> x
    tensor([1., 1.], requires_grad=True)
    """

    def __new__(
        cls, data: Any = None, requires_grad: bool = False, volatile: bool | None = None
    ) -> Any:
        if volatile is not None:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
            if volatile and requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if data is None:
            data = tensor_base.Tensor()
        elif not isinstance(data, TensorBase):
            raise errors.type_error(
                f"Variable data has to be a tensor, but got {type(data).__name__}",
                "torch.tensor(data, requires_grad=True) takes numbers, lists and arrays.",
            )
        result = data.detach()
        if not requires_grad:
            return result
        if not (result.dtype.is_floating_point or result.dtype.is_complex):
            raise errors.float_required(result.dtype)
        return result.requires_grad_()


Variable.__module__ = VariableMeta.__module__ = "torch.autograd.variable"

__all__ = ["Variable", "VariableMeta"]
