"""Adagrad: steps scaled by all squared gradients so far."""

from itertools import chain

import numpy as np

from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.errors import runtime_error
from tapegrad.core.tensor_base import wrap
from tapegrad.optim.batch import step_dtype
from tapegrad.optim.optimizer import (
    Optimizer,
    check_choices,
    check_lr,
    check_not_negative,
    given,
    penalized,
)


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients.

        total = total + grad**2
        param = param - lr / (1 + (t - 1) * lr_decay) * grad / (sqrt(total) + eps)

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        lr_decay: how fast the learning rate falls
        weight_decay: factor of an L2 penalty
        initial_accumulator_value: where the sum starts; one of a group is ignored, as in PyTorch
        eps: keeps the denominator from 0
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        foreach, fused: accepted; the arithmetic is the same

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic
    optimization, 2011.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.Adagrad([w], lr=0.1)
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
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("lr_decay value", lr_decay)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("initial_accumulator_value value", initial_accumulator_value)
        check_not_negative("epsilon value", eps)
        check_choices(foreach, fused, differentiable)
        options = (
            "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize "
            "differentiable fused"
        )
        super().__init__(params, given(locals(), options))
        for param in chain.from_iterable(group["params"] for group in self.param_groups):
            total = self.init(numpy_namespace, param._array)["sum"]
            self.state[param] = {"step": wrap(np.zeros((), step_dtype())), "sum": wrap(total)}

    def init(self, xp: Namespace, param: Tensor, **_: object) -> dict[str, Any]:
        start = self.defaults["initial_accumulator_value"]
        if xp.isdtype(param.dtype, "complex floating"):
            start = complex(start, start)
        return {"sum": xp.full_like(param, start)}

    def update(
        self,
        xp: Namespace,
        param: Tensor,
        grad: Array,
        state: dict[str, Any],
        *,
        lr: float,
        lr_decay: float,
        eps: float,
        **options: Any,
    ) -> None:
        total = state["sum"]
        if options["weight_decay"] or options["maximize"]:
            grad = penalized(param, grad, **options)
        total += grad * grad
        t = xp.astype(state["step"], xp.float64)
        size = xp.asarray(lr / (1 + (t - 1) * lr_decay), dtype=param.dtype)
        param -= size * grad / (xp.sqrt(total) + eps)

    def update_sparse(
        self, param: Tensor, grad: Tensor, *, lr: float, lr_decay: float, eps: float, **options: Any
    ) -> None:
        if options["weight_decay"]:
            raise runtime_error(
                "weight_decay option is not compatible with sparse gradients",
                "Add the penalty to the loss.",
            )
        from tapegrad.sparse.creation import sparse_coo_tensor

        state = self.state[param]
        state["step"] += 1
        size = lr / (1 + (state["step"].item() - 1) * lr_decay)
        grad = (-grad if options["maximize"] else grad).coalesce()
        state["sum"].add_(grad.pow(2))
        std = state["sum"].sparse_mask(grad)._values().sqrt().add_(eps)
        step = sparse_coo_tensor(
            grad._indices(), grad._values() / std, grad.shape, check_invariants=False
        )
        param.add_(step, alpha=-size)
