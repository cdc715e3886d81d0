"""Negative log-likelihood of counts."""

import math

from tapegrad.core.annotations import Any, Tensor
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.nn.loss.mse_l1 import reduced
from tapegrad.operators.with_number import plus_number, times_number


@autocast(name="poisson_nll_loss")
def poisson_nll(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: str
) -> Any:
    """exp(x) - y x, or x - y log(x + eps); with `full`, Stirling's approximation of log(y!)."""
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * plus_number(input, number=eps).log()
    if full:
        circle = times_number(target, number=2 * math.pi).log()
        stirling = target * target.log() - target + times_number(circle, number=0.5)
        loss += stirling.masked_fill(target <= 1, 0)  # which keeps its shape and dtype
    return reduced(loss, reduction)
