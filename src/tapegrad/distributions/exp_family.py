"""Exponential families: densities `exp(<theta, t(x)> - F(theta) + k(x))`."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with natural parameters theta, sufficient statistics t and normaliser F.

    A subclass gives `_natural_params` and `_log_normalizer`; entropies and divergences within the
    family then follow from the derivative of F, which autograd computes.

    Source: Nielsen and Nock, "Entropies and cross-entropies of exponential families", 2010.

    >>> torch.distributions.Poisson(torch.tensor(2.0))._natural_params
    (tensor(0.6931),)
    """

    @property
    def _natural_params(self) -> tuple:
        """theta, a tuple of tensors."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        """F(theta), the logarithm of what makes the density integrate to one."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of k(x)."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """`F(theta) - <theta, F'(theta)> - E[k(x)]`."""
        theta = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*theta)
        slopes = torch.autograd.grad(log_normalizer.sum(), theta, create_graph=True)
        result = -self._mean_carrier_measure
        result = result + log_normalizer
        for p, slope in zip(theta, slopes, strict=True):
            result = result - (p * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return result
