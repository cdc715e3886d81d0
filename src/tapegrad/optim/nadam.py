"""NAdam: Adam with Nesterov's momentum."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.optim.batch import step_dtype
from tapegrad.optim.optimizer import Optimizer, check_adam, check_not_negative, given, penalized


class NAdam(Optimizer):
    """Adam that looks ahead along the momentum, which grows with the steps.

        mu_t  = beta1 * (1 - 0.96**(t * momentum_decay) / 2),    product = mu_1 * ... * mu_t
        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * grad**2
        ahead = mu_(t+1) * m / (1 - product * mu_(t+1)) + (1 - mu_t) * grad / (1 - product)
        param = param - lr * ahead / (sqrt(v / (1 - beta2**t)) + eps)

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        betas: decay rates of the two means
        eps: keeps the denominator from 0
        weight_decay: factor of an L2 penalty
        momentum_decay: how fast `mu` grows to `beta1`
        decoupled_weight_decay: shrink the parameter instead of adding a penalty
        maximize: climb instead of descend
        capturable: for GPUs only, as in PyTorch
        differentiable: record the step, so that gradients pass through it
        foreach: accepted; the arithmetic is the same

    Source: Dozat, Incorporating Nesterov momentum into Adam, 2016.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.NAdam([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8944, 1.8944], requires_grad=True)
    """

    counts_steps = True
    scalars = ("step", "mu_product")
    captured = "params, mu_products and state_steps"

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam(lr, eps, betas, weight_decay)
        check_not_negative("momentum_decay value", momentum_decay)
        options = (
            "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach "
            "capturable differentiable"
        )
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        return {
            "mu_product": xp.ones((), dtype=step_dtype(xp)),
            "exp_avg": xp.zeros_like(param),
            "exp_avg_sq": xp.zeros_like(param),
        }

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
        momentum_decay: float,
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
        mu, mu_next = _mu(beta1, momentum_decay, t), _mu(beta1, momentum_decay, t + 1)
        product = _product(xp, state["mu_product"], mu)
        now = xp.asarray(lr * (1 - mu) / (1 - product), dtype=param.dtype)
        ahead = xp.asarray(lr * mu_next / (1 - product * mu_next), dtype=param.dtype)
        correction = xp.asarray(1 - beta2**t, dtype=param.dtype)
        scale = xp.sqrt(v / correction) + eps
        param -= (now * grad + ahead * m) / scale

    def conclude(
        self,
        xp: Namespace,
        state: dict[str, Any],
        *,
        betas: tuple[float, float],
        momentum_decay: float,
        **_: object,
    ) -> None:
        product = state["mu_product"]
        t = xp.astype(state["step"], xp.float64)
        product[...] = _product(xp, product, _mu(betas[0], momentum_decay, t))


def _mu(beta1: float, momentum_decay: float, t: Tensor) -> Any:
    return beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay))


def _product(xp: Namespace, product: Any, mu: Any) -> Any:
    """The next product, rounded as it is kept, for further use in double precision."""
    return xp.astype(product * xp.asarray(mu, dtype=product.dtype), xp.float64)
