"""Rprop: steps by the signs of the gradient alone."""

from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.errors import value_error
from tapegrad.optim.optimizer import Optimizer, check_lr, given


class Rprop(Optimizer):
    """Steps that grow while the sign of the gradient stays and shrink when it changes.

        size = size * (eta_plus, 1 or eta_minus for grad * previous >, = or < 0)
        size = min(max(size, step_sizes[0]), step_sizes[1])
        grad = 0 where the sign has changed
        param = param - sign(grad) * size

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: the first step size
        etas: factors by which a step size shrinks and grows
        step_sizes: the smallest and the largest
        capturable: for GPUs only, as in PyTorch
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        foreach: accepted; the arithmetic is the same

    Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning,
    1993; without the way back after a change of sign, as in PyTorch.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.Rprop([w], lr=0.1)
    >>> (w**2).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.9000, 1.9000], requires_grad=True)
    """

    counts_steps = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        etas: Any = (0.5, 1.2),
        step_sizes: Any = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise value_error(
                f"Invalid eta values: {etas[0]}, {etas[1]}",
                "The first must be between 0 and 1, the second greater than 1.",
            )
        options = "lr etas step_sizes foreach maximize differentiable capturable"
        super().__init__(params, given(locals(), options))

    def init(self, xp: Namespace, param: Tensor, *, lr: float, **_: object) -> dict[str, Any]:
        return {"prev": xp.zeros_like(param), "step_size": xp.full_like(param, float(lr))}

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        etas: Any,
        step_sizes: Any,
        maximize: bool,
        **_: object,
    ) -> None:
        previous, sizes = state["prev"], state["step_size"]
        shrink, grow = etas
        if maximize:
            grad = -grad
        same = xp.sign(grad) * xp.sign(previous)
        shrink, one, grow = [xp.asarray(x, dtype=param.dtype) for x in (shrink, 1.0, grow)]
        factor = xp.where(same > 0, grow, xp.where(same < 0, shrink, one))
        size = xp.clip(sizes * factor, *step_sizes)
        sizes[...] = size
        grad = xp.where(same < 0, 0.0, grad)
        param -= xp.sign(grad) * size
        previous[...] = grad
