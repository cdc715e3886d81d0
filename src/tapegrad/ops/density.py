"""Negative log-likelihood of counts."""

from __future__ import annotations

import math
from typing import Any

from tapegrad.ops.loss import reduced
from tapegrad.ops.plain_number import plus_number, times_number
from tapegrad.precision import autocast

__all__: list[str] = []  # they live in torch.nn.functional


@autocast(name="poisson_nll_loss")
def poisson_nll(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: str
) -> Any:
    """exp(x) - y x, or x - y log(x + eps); with `full`, Stirling's approximation of log(y!)."""
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * plus_number(input, number=eps).log()
    if full:
        circle = times_number(target, number=2 * math.pi).log()
        stirling = target * target.log() - target + times_number(circle, number=0.5)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)
