"""Stochastic gradient descent."""

from tapegrad.core.annotations import Any, Array, Namespace
from tapegrad.core.errors import value_error
from tapegrad.optim.optimizer import (
    Optimizer,
    check_choices,
    check_not_negative,
    check_number,
    given,
    penalized,
)
from tapegrad.tensors.tensor import Tensor


class SGD(Optimizer):
    """Gradient descent, with momentum (Polyak's or Nesterov's) if asked for.

        grad   = grad + weight_decay * param
        buffer = momentum * buffer + (1 - dampening) * grad         (the first time: grad)
        param  = param - lr * buffer          (Nesterov: lr * (grad + momentum * buffer))

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        momentum: how much of the last step goes into this one
        dampening: how much of the gradient is left out of the buffer
        weight_decay: factor of an L2 penalty
        nesterov: look ahead along the momentum
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        foreach, fused: accepted; the arithmetic is the same

    Source: Sutskever et al., On the importance of initialization and momentum, 2013; the learning
    rate is outside the buffer, as in PyTorch.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8000, 1.6000], requires_grad=True)
    """

    structural = ("momentum",)
    uses_spare = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_number("lr", lr)
        check_not_negative("learning rate", lr, nan=True)
        check_not_negative("momentum value", momentum, nan=True)
        check_not_negative("weight_decay value", weight_decay, nan=True)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise value_error(
                "Nesterov momentum requires a momentum and zero dampening",
                "Pass momentum=0.9 and no dampening, for example.",
            )
        check_choices(foreach, fused, differentiable)
        options = (
            "lr momentum dampening weight_decay nesterov maximize foreach differentiable fused"
        )
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, *, momentum: float, **_: object) -> dict[str, Any]:
        return {"momentum_buffer": xp.zeros_like(param)} if momentum else {}

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        momentum: float,
        dampening: float,
        nesterov: bool,
        first: bool,
        spare: Any,
        **options: Any,
    ) -> None:
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, **options)
        if momentum:
            buffer = state["momentum_buffer"]
            buffer *= momentum
            if first:
                buffer += _value(grad)  # PyTorch's buffer begins without history
            else:
                buffer += grad if not dampening else (1 - dampening) * grad
            grad = grad + momentum * buffer if nesterov else buffer
        param -= xp.multiply(grad, lr, out=spare[0])

    def update_sparse(
        self,
        param: Tensor,
        grad: Tensor,
        *,
        lr: float,
        momentum: float,
        dampening: float,
        nesterov: bool,
        **options: Any,
    ) -> None:
        if options["maximize"]:
            grad = -grad
        if options["weight_decay"]:
            grad = grad.add(param, alpha=options["weight_decay"])
        if momentum:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
        param.add_(grad, alpha=-lr)


def _value(x: Tensor) -> Any:
    """`x` without the history that a tensor has."""
    return x.detach() if isinstance(x, Tensor) else x
