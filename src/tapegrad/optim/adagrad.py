"""Adagrad: steps scaled by all squared gradients so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.optim.batch import step_dtype
from tapegrad.optim.check import check_choices, check_not_negative, check_number
from tapegrad.optim.optimizer import Optimizer
from tapegrad.tensor import wrap


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients.

        total = total + grad**2
        param = param - lr / (1 + (t - 1) * lr_decay) * grad / (sqrt(total) + eps)

    Args:
        params: tensors, groups, or pairs of name and tensor
        lr: learning rate
        lr_decay: how fast the learning rate falls
        weight_decay: factor of an L2 penalty
        initial_accumulator_value: where the sum starts
        eps: keeps the denominator from 0
        maximize: climb instead of descend
        differentiable: record the step, so that gradients pass through it
        fused: accepted; the arithmetic is the same
        foreach: accepted; the arithmetic is the same

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
        lr: Any = 1e-2,
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
        check_number("lr", lr)
        check_not_negative("learning rate", lr)
        check_not_negative("lr_decay value", lr_decay)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("initial_accumulator_value value", initial_accumulator_value)
        check_not_negative("epsilon value", eps)
        check_choices(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "eps": eps,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimize further parameters; their state exists from now on, as PyTorch's does."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        start = group["initial_accumulator_value"]
        for param in group["params"]:
            filled = complex(start, start) if param.is_complex() else start
            array = np.full_like(param._array, filled)
            self.state[param] = {"step": wrap(np.zeros((), step_dtype())), "sum": wrap(array)}

    def init(
        self, xp: Any, param: Any, *, initial_accumulator_value: float, **_: Any
    ) -> dict[str, Any]:
        return {"sum": xp.full_like(param, initial_accumulator_value)}

    def update(
        self,
        xp: Any,
        param: Any,
        grad: Any,
        state: dict[str, Any],
        *,
        lr: float,
        lr_decay: float,
        weight_decay: float,
        eps: float,
        maximize: bool,
        **_: Any,
    ) -> None:
        total = state["sum"]
        if maximize:
            grad = -grad
        if weight_decay:
            grad = grad + weight_decay * param
        total += grad * grad
        t = xp.astype(state["step"], xp.float64)
        size = xp.asarray(lr / (1 + (t - 1) * lr_decay), dtype=param.dtype)
        param -= size * grad / (xp.sqrt(total) + eps)
