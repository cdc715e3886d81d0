"""RMSprop: steps scaled by a running mean of the squared gradient."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.optim.optimizer import Optimizer, check_lr, check_not_negative, given, penalized


class RMSprop(Optimizer):
    """Steps divided by the root of a running mean of the squared gradient.

        v = alpha * v + (1 - alpha) * grad**2
        mean = alpha * mean + (1 - alpha) * grad                              (if centered; else 0)
        step = grad / (sqrt(v - mean**2) + eps)
        buffer = momentum * buffer + step                               (with momentum; else step)
        param = param - lr * buffer

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        alpha: decay rate of the means
        eps: keeps the denominator from 0
        weight_decay: factor of an L2 penalty
        momentum: how much of the last step goes into this one
        centered: divide by the standard deviation instead
        capturable: for GPUs only, as in PyTorch
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        foreach: accepted; the arithmetic is the same

    Source: Hinton, Neural networks for machine learning, lecture 6e, 2012; Graves, Generating
    sequences with recurrent neural networks, 2013, equations 38 to 45, for `centered`; `eps` is
    outside the root, as in PyTorch.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.RMSprop([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([5.9605e-08, 1.0000e+00], requires_grad=True)
    """

    counts_steps = True
    structural = ("momentum", "centered")

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("epsilon value", eps)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("alpha value", alpha)
        options = (
            "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
        )
        super().__init__(params, given(locals(), options))

    def init(
        self, xp: Namespace, param: Tensor, *, momentum: float, centered: bool, **_: object
    ) -> dict[str, Any]:
        state = {"square_avg": xp.zeros_like(param)}
        if momentum > 0:
            state["momentum_buffer"] = xp.zeros_like(param)
        if centered:
            state["grad_avg"] = xp.zeros_like(param)
        return state

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        alpha: float,
        eps: float,
        momentum: float,
        centered: bool,
        **options: Any,
    ) -> None:
        v = state["square_avg"]
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, **options)
        v *= alpha
        v += (1 - alpha) * (grad * grad)
        if centered:
            mean = state["grad_avg"]
            mean += (1 - alpha) * (grad - mean)
            mean = xp.asarray(mean, copy=True)  # a recorded step keeps it
            scale = xp.sqrt(v - mean * mean) + eps
        else:
            scale = xp.sqrt(v) + eps
        step = grad / scale
        if momentum > 0:
            buffer = state["momentum_buffer"]
            buffer *= momentum
            buffer += step
            step = buffer
        param -= lr * step
