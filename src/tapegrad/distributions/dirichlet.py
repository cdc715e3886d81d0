"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.autograd import Function
from tapegrad.autograd.function import once_differentiable
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """A sample, with its gradient by implicit differentiation of the marginals' cdf.

    Source: Jankowiak and Obermeyer, "Pathwise derivatives beyond the reparameterization trick",
    2018, section on the Dirichlet distribution.
    """

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        x = torch._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = torch._dirichlet_grad(x, concentration, total)
        return slope * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Points of the simplex: density proportional to the product of `x_i^(concentration_i - 1)`.

    Args:
        concentration: (*, K), positive.

    Raises: ValueError for a number, or for what is not positive.

    >>> d = torch.distributions.Dirichlet(torch.tensor([1.0, 3.0]))
    >>> d.mean, d.log_prob(torch.tensor([0.5, 0.5])), d.event_shape
    (tensor([0.2500, 0.7500]), tensor(-0.2877), torch.Size([2]))
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise errors.value_error(
                "`concentration` parameter must be at least one-dimensional.",
                "Its last dimension numbers the parts of the whole.",
            )
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        event_shape = self.event_shape
        return self._expanded(
            Dirichlet, batch_shape, _instance, "concentration", event_shape=event_shape
        )

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return _Dirichlet.apply(self.concentration.expand(shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        weights = torch.xlogy(a - 1.0, value).sum(-1)
        return weights + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    @property
    def mean(self) -> Any:
        """The concentration over its sum."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        """`(a_i - 1) / sum(a - 1)`, or the corner of the largest where all are below one."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        in_corner = (self.concentration < 1).all(dim=-1)
        corner = torch.nn.functional.one_hot(mode[in_corner].argmax(dim=-1), above.shape[-1])
        mode[in_corner] = corner.to(mode)
        return mode

    @property
    def variance(self) -> Any:
        """`a_i (A - a_i) / (A^2 (A + 1))` of the sum A."""
        total = self.concentration.sum(-1, True)
        a = self.concentration
        return a * (total - a) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        k, a = self.concentration.size(-1), self.concentration
        total = a.sum(-1)
        log_beta = torch.lgamma(a).sum(-1) - torch.lgamma(total)
        weights = ((a - 1.0) * torch.digamma(a)).sum(-1)
        return log_beta - (k - total) * torch.digamma(total) - weights

    @property
    def _natural_params(self) -> tuple:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
