"""Adamax: Adam by the largest gradient."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.optim.optimizer import Optimizer, check_adam, given, penalized


class Adamax(Optimizer):
    """Adam whose steps are divided by the largest recent gradient instead of a root mean square.

        m = beta1 * m + (1 - beta1) * grad
        u = max(beta2 * u, |grad| + eps)
        param = param - lr / (1 - beta1**t) * m / u

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        betas: decay rates of the mean and of the maximum
        eps: keeps the denominator from 0
        weight_decay: factor of an L2 penalty
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        capturable: for GPUs only, as in PyTorch
        foreach: accepted; the arithmetic is the same

    Source: Kingma and Ba, Adam, 2014, algorithm 2.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adamax([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    counts_steps = True

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_adam(lr, eps, betas, weight_decay)
        options = "lr betas eps weight_decay foreach maximize differentiable capturable"
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        return {"exp_avg": xp.zeros_like(param), "exp_inf": xp.zeros_like(param)}

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        betas: Any,
        eps: float,
        **options: Any,
    ) -> None:
        beta1, beta2 = betas
        m, largest = state["exp_avg"], state["exp_inf"]
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, **options)
        m += (1 - beta1) * (grad - m)
        u = xp.maximum(beta2 * largest, xp.abs(grad) + eps)
        largest[...] = u
        t = xp.astype(state["step"], xp.float64)
        param -= xp.asarray(lr / (1 - beta1**t), dtype=param.dtype) * m / u
