"""ASGD: gradient descent that also averages where it has been."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.optim.batch import step_dtype
from tapegrad.optim.optimizer import Optimizer, check_lr, check_not_negative, given, penalized


class ASGD(Optimizer):
    """Gradient descent with a falling learning rate; `ax` in the state averages the parameters.

        param = (1 - lambd * eta) * param - eta * grad
        ax = ax + mu * (param - ax)
        eta = lr / (1 + lambd * lr * t)**alpha,    mu = 1 / max(1, t - t0)

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        lambd: how fast parameters and learning rate shrink
        alpha: power of the learning rate's fall
        t0: the step at which the averaging starts
        weight_decay: factor of an L2 penalty
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        capturable: for GPUs only, as in PyTorch
        foreach: accepted; the arithmetic is the same

    Source: Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.ASGD([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8000, 1.6000], requires_grad=True)
    """

    counts_steps = True
    scalars = ("step", "eta", "mu")
    captured = "params, mus, etas, and state_steps"

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("weight_decay value", weight_decay)
        options = "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable"
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, *, lr: float, **_: object) -> dict[str, Any]:
        dtype = step_dtype(xp)
        return {
            "eta": xp.full((), float(lr), dtype=dtype),
            "mu": xp.ones((), dtype=dtype),
            "ax": xp.zeros_like(param),
        }

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lambd: float,
        **options: Any,
    ) -> None:
        average, eta, mu = state["ax"], state["eta"].item(), state["mu"].item()
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, **options)
        param *= 1 - lambd * eta
        param -= eta * grad
        if mu == 1:
            average[...] = param
        else:
            average += mu * (param - average)

    def conclude(
        self,
        xp: Namespace,
        state: dict[str, Any],
        *,
        lr: float,
        lambd: float,
        alpha: float,
        t0: float,
        **_: object,
    ) -> None:
        t = state["step"].item()
        eta = lr / (1 + lambd * lr * t) ** alpha
        dtype = step_dtype(xp)  # in which PyTorch computes them, whatever it keeps them in
        state["eta"][...] = xp.asarray(eta, dtype=dtype)
        state["mu"][...] = xp.asarray(1 / max(1.0, t - t0), dtype=dtype)
