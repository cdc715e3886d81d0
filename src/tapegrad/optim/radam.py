"""RAdam: Adam with the variance of its step size rectified."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.optim.optimizer import Optimizer, check_adam, given, penalized


class RAdam(Optimizer):
    """Adam that waits for its second mean: plain momentum until `v` is worth dividing by.

        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * grad**2
        rho_inf = 2 / (1 - beta2) - 1,    rho = rho_inf - 2 * t * beta2**t / (1 - beta2**t)
        r = sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho))
        scale = r * sqrt(1 - beta2**t) / (sqrt(v) + eps) if rho > 5 else 1
        param = param - lr * m / (1 - beta1**t) * scale

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        betas: decay rates of the two means
        eps: keeps the denominator from 0
        weight_decay: factor of an L2 penalty
        decoupled_weight_decay: shrink the parameter instead of adding a penalty
        maximize: climb instead of descend
        capturable: for GPUs only, as in PyTorch
        differentiable: record the step, so that gradients pass through it
        foreach: accepted; the arithmetic is the same

    Source: Liu et al., On the variance of the adaptive learning rate and beyond, 2019, algorithm 2,
    where the bound is 4.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.RAdam([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8000, 1.6000], requires_grad=True)
    """

    counts_steps = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam(lr, eps, betas, weight_decay)
        options = (
            "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
            "differentiable"
        )
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        return {"exp_avg": xp.zeros_like(param), "exp_avg_sq": xp.zeros_like(param)}

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
        m, v = state["exp_avg"], state["exp_avg_sq"]
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, lr=lr, **options)
        m += (1 - beta1) * (grad - m)
        v *= beta2
        v += (1 - beta2) * (grad * grad)
        t = xp.astype(state["step"], xp.float64)
        correction = 1 - beta2**t
        limit = 2 / (1 - beta2) - 1
        rho = limit - 2 * t * beta2**t / correction
        size = xp.asarray(lr / (1 - beta1**t), dtype=param.dtype)
        if rho <= 5:
            param -= size * m
            return
        root = xp.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
        size = size * xp.asarray(root * xp.sqrt(correction), dtype=param.dtype)
        param -= size * m / (xp.sqrt(v) + eps)
