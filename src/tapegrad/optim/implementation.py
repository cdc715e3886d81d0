"""What optimizers written elsewhere ask PyTorch's for: which implementation, and gradients or none.

Public code takes these from `torch.optim.optimizer` under the same names.
"""

from functools import wraps
from typing import Any

from tapegrad.autograd.mode import set_grad_enabled
from tapegrad.core.annotations import Callable
from tapegrad.core.dtype import default, float32, float64
from tapegrad.operators.shape.as_strided import view_as_real
from tapegrad.tensors.tensor import Tensor


def _default_to_fused_or_foreach(
    params: list, differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether a fused and whether a multi-tensor implementation is the default; on the CPU, none.

    >>> from tapegrad.optim.optimizer import _default_to_fused_or_foreach
    >>> _default_to_fused_or_foreach([torch.ones(2)], differentiable=False)
    (False, False)
    """
    if differentiable or not use_fused:
        return False, False
    return all(p is None or p.dtype.is_floating_point for p in params), False


def _use_grad_for_differentiable(step: Callable) -> Callable:
    """`step`, recorded by autograd if the optimizer is `differentiable`, and only then.

    >>> from tapegrad.optim.optimizer import _use_grad_for_differentiable
    >>> class Plain(torch.optim.Optimizer):
    ...     @_use_grad_for_differentiable
    ...     def step(self, closure=None):
    ...         return torch.is_grad_enabled()
    >>> Plain([torch.ones(1)], {"differentiable": False}).step()
    False
    """

    @wraps(step)
    def switched(*args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(args[0].defaults["differentiable"]):
            return step(*args, **kwargs)

    return switched


def _get_value(x: Any) -> Any:
    """The number that a tensor of one element holds; a number as it is."""
    return x.item() if isinstance(x, Tensor) else x


def _view_as_real(params: list, *others: list) -> None:
    """Put views as pairs of numbers into the lists where `params` has complex tensors."""
    for i, param in enumerate(params):
        if param.is_complex():
            for each in (params, *others):
                each[i] = view_as_real(each[i])


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype in which steps are counted."""
    return float64 if default() is float64 and not is_fused else float32
