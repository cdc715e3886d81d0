"""Adam: steps scaled by running means of the gradient and of its square."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.optim.optimizer import (
    Optimizer,
    check_betas,
    check_choices,
    check_lr,
    check_not_foreach,
    check_not_negative,
    given,
    penalized,
)


class Adam(Optimizer):
    """Steps along a running mean of the gradient, divided by the root of that of its square.

        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * grad**2
        param = param - lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps)

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        betas: decay rates of the two means
        eps: keeps the denominator from 0
        weight_decay: factor of an L2 penalty
        amsgrad: divide by the largest `v` so far
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        decoupled_weight_decay: shrink the parameter instead of adding a penalty: AdamW
        foreach, fused: accepted; the arithmetic is the same
        capturable: for GPUs only, as in PyTorch

    Source: Kingma and Ba, Adam, 2014, algorithm 1; Reddi et al., On the convergence of Adam and
    beyond, 2018, for `amsgrad`.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adam([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    counts_steps = True
    uses_spare = True
    structural = ("amsgrad",)

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_not_foreach("lr", lr, foreach, capturable)
        check_lr(lr)
        check_not_negative("epsilon value", eps)
        check_betas(betas)
        for i in (0, 1):
            check_not_foreach(f"betas[{i}]", betas[i], foreach, capturable)
        check_not_negative("weight_decay value", weight_decay)
        check_choices(foreach, fused, differentiable)
        betas = tuple(betas)
        options = (
            "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused "
            "decoupled_weight_decay"
        )
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, *, amsgrad: bool, **_: object) -> dict[str, Any]:
        state = {"exp_avg": xp.zeros_like(param), "exp_avg_sq": xp.zeros_like(param)}
        if amsgrad:
            state["max_exp_avg_sq"] = xp.zeros_like(param)
        return state

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        betas: tuple[float, float],
        eps: float,
        amsgrad: bool,
        spare: Any,
        **options: Any,
    ) -> None:
        beta1, beta2 = betas
        m, v = state["exp_avg"], state["exp_avg_sq"]
        t = xp.astype(state["step"], xp.float64)
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, lr=lr, **options)
        change = xp.subtract(grad, m, out=spare[0])
        change *= 1 - beta1
        m += change
        square = xp.multiply(grad, grad, out=spare[0])
        square *= 1 - beta2
        v *= beta2
        v += square
        if amsgrad:
            peak = state["max_exp_avg_sq"]
            peak[...] = xp.maximum(xp.asarray(peak, copy=True), v)  # a recorded step keeps it
            v = peak
        # The corrections of the bias, in double precision whatever the parameter's. That of v is
        # taken out of the root: size * m / (sqrt(v) / root + eps).
        root = xp.sqrt(1 - beta2**t)
        size = xp.asarray(lr * root / (1 - beta1**t), dtype=param.dtype)
        scale = xp.sqrt(v, out=spare[0])
        scale = xp.add(scale, xp.asarray(eps * root, dtype=param.dtype), out=spare[0])
        change = xp.multiply(m, size, out=spare[1])
        param -= xp.divide(change, scale, out=spare[1])
