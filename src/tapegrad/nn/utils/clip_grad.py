"""Clipping gradients, by their norm or their value. `foreach` is accepted: the result is the same.

Source of clipping by norm: Pascanu et al., On the difficulty of training recurrent neural
networks, 2012.
"""

from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.core.errors import deprecated, runtime_error, warn
from tapegrad.operators.creation.tensor import tensor as new_tensor
from tapegrad.operators.shape.cat_stack import stack
from tapegrad.tensors.tensor import Tensor


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all `tensors` as one vector.

    >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    order = float(norm_type)
    listed = _listed(tensors)
    for t in listed:
        if t.is_sparse:
            _refuse_sparse()
    norms = [t.norm(order) for t in listed]
    if not norms:
        return new_tensor(0.0)
    total = stack(norms).norm(order)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise runtime_error(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`",
            "Look for the step at which the loss became inf or nan.",
        )
    return total


def _refuse_sparse() -> None:
    """PyTorch's norm of several gradients has no kernel for sparse ones."""
    from tapegrad.sparse.table import refused

    raise refused("vector_norm")


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale the gradients of `parameters`, whose norm is `total_norm`, down to `max_norm`.

    >>> w = torch.ones(1, requires_grad=True)
    >>> (w * 4).backward()
    >>> torch.nn.utils.clip_grads_with_norm_([w], 2.0, torch.tensor(4.0))
    >>> w.grad
    tensor([2.0000])
    """
    with no_grad():
        # A tensor, so that nothing waits for a device; 1e-6 keeps a norm of 0 from dividing.
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for grad in _gradients(parameters):
            grad.mul_(factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of `parameters` so that their norm is at most `max_norm`.

    Returns: the norm of all gradients as one vector, before.

    >>> w = torch.ones(2, requires_grad=True)
    >>> (w * torch.tensor([3.0, 4.0])).sum().backward()
    >>> torch.nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    given = _listed(parameters)
    if not given and isinstance(parameters, GeneratorType):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    with no_grad():
        total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite)
        clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    deprecated(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`."
    )
    return clip_grad_norm_(*args, **kwargs)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clamp each element of the gradients of `parameters` to [-clip_value, clip_value].

    >>> w = torch.ones(2, requires_grad=True)
    >>> (w * torch.tensor([3.0, -4.0])).sum().backward()
    >>> torch.nn.utils.clip_grad_value_([w], 1.0)
    >>> w.grad
    tensor([ 1., -1.])
    """
    bound = float(clip_value)
    with no_grad():
        for grad in _gradients(parameters):
            grad.clamp_(-bound, bound)


def _listed(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [p.grad for p in _listed(parameters) if p.grad is not None]
