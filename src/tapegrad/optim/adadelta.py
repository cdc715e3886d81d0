"""Adadelta: steps in the units of the parameter."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.errors import value_error
from tapegrad.optim.optimizer import Optimizer, check_lr, check_not_negative, given, penalized


class Adadelta(Optimizer):
    """Steps divided by the root mean square of the gradient, times that of the last steps.

        v = rho * v + (1 - rho) * grad**2
        delta = sqrt(u + eps) / sqrt(v + eps) * grad
        u = rho * u + (1 - rho) * delta**2
        param = param - lr * delta

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        rho: decay rate of the two means
        eps: keeps the roots from 0
        weight_decay: factor of an L2 penalty
        capturable: for GPUs only, as in PyTorch
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        foreach: accepted; the arithmetic is the same

    Source: Zeiler, ADADELTA: an adaptive learning rate method, 2012, algorithm 1.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adadelta([w], lr=100.0)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.6838, 1.6838], requires_grad=True)
    """

    counts_steps = True

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise value_error(f"Invalid rho value: {rho}", "It must be from 0 to 1.")
        check_not_negative("epsilon value", eps)
        check_not_negative("weight_decay value", weight_decay)
        options = "lr rho eps weight_decay maximize capturable foreach differentiable"
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        return {"square_avg": xp.zeros_like(param), "acc_delta": xp.zeros_like(param)}

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        rho: float,
        eps: float,
        **options: Any,
    ) -> None:
        v, u = state["square_avg"], state["acc_delta"]
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, **options)
        v *= rho
        v += (1 - rho) * (grad * grad)
        delta = xp.sqrt(u + eps) / xp.sqrt(v + eps) * grad
        u *= rho
        u += (1 - rho) * (delta * delta)
        param -= lr * delta
