"""Negative log-likelihoods of numbers: normal and Poisson distributions."""

from __future__ import annotations

import math

from tapegrad.arrays.namespaces import elements
from tapegrad.autograd.mode import no_grad
from tapegrad.core.argument_check import takes_tensors
from tapegrad.core.errors import must_be, value_error
from tapegrad.operators.nn.loss import poisson_nll
from tapegrad.operators.nn.loss.mse_l1 import check_reduction, legacy_reduction, reduced
from tapegrad.tensors.tensor import Tensor

__all__ = ["gaussian_nll_loss", "poisson_nll_loss"]


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `(log(var) + (input - target)^2 / var) / 2`, `var` no less than eps.

    With `full` the constant `log(2 pi) / 2` is added. The gradient for `var` is as if eps did not
    limit it, as in PyTorch.

    Shapes: `var` has the input's, or that without the last dimension, or with one of size 1.

    Source: Nix and Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    >>> x = torch.tensor([0.0, 1.0])
    >>> torch.nn.functional.gaussian_nll_loss(x, torch.zeros(2), torch.ones(2))
    tensor(0.2500)
    """
    if isinstance(var, float):
        var = var * input.new_ones(input.shape)
    if not isinstance(var, Tensor):
        raise must_be("gaussian_nll_loss", "var", 3, "Tensor or float", var)
    if (elements(var._array) < 0).any():
        raise value_error("var has negative entry/entries", "A variance is positive.")
    if var.shape != input.shape:
        var = _variances(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise value_error(f"{reduction} is not valid", "Use 'mean', 'sum' or 'none'.")
    limited = var.clone()
    with no_grad():
        limited.clamp_(min=eps)
    loss = 0.5 * (limited.log() + (input - target) ** 2 / limited)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)


def _variances(input: Tensor, var: Tensor) -> Tensor:
    """One variance for each row of the input, or what broadcasts along one dimension."""
    shape, have = tuple(input.shape), tuple(var.shape)
    if have == shape[:-1]:
        return var.unsqueeze(-1)
    apart = [n for n, m in zip(have, shape, strict=False) if n != m]
    if len(have) != len(shape) or apart != [1]:
        raise value_error(
            "var is of incorrect size",
            f"The input is {list(shape)}, var {list(have)}: one dimension of it may be 1.",
        )
    return var


@takes_tensors
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean of `exp(x) - y * x` for logarithms x of expected counts, y the counts seen.

    With log_input=False, `x - y * log(x + eps)` for the expected counts themselves. With `full`
    Stirling's approximation of log(y!) is added where y > 1: `y log(y) - y + log(2 pi y) / 2`.

    >>> torch.nn.functional.poisson_nll_loss(torch.zeros(2), torch.tensor([0.0, 3.0]))
    tensor(1.)
    """
    reduction = check_reduction(legacy_reduction(size_average, reduce, reduction))
    return poisson_nll.poisson_nll(input, target, log_input, full, eps, reduction)
