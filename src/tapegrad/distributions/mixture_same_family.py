"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.categorical import Categorical
from tapegrad.distributions.distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component is drawn by a categorical distribution, then a sample of that component.

    Args:
        mixture_distribution: a `Categorical`, of batch shape `B` or none, over K components.
        component_distribution: of batch shape `B + (K,)`.

    Raises: ValueError for what is not of these classes, or where the shapes do not fit.

    >>> D = torch.distributions
    >>> d = D.MixtureSameFamily(
    ...     D.Categorical(torch.tensor([1.0, 3.0])), D.Normal(torch.tensor([-1.0, 1.0]), 1.0)
    ... )
    >>> d.mean, d.variance, d.log_prob(torch.tensor(0.0))
    (tensor(0.5000), tensor(1.7500), tensor(-1.4189))
    """

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise errors.value_error(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical",
                "Its probabilities are the weights.",
            )
        if not isinstance(component_distribution, Distribution):
            raise errors.value_error(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution",
                "Its last batch dimension numbers the components.",
            )
        of_weights = mixture_distribution.batch_shape
        of_components = component_distribution.batch_shape[:-1]
        for n, m in zip(reversed(of_weights), reversed(of_components), strict=False):
            if n != 1 and m != 1 and n != m:
                raise errors.value_error(
                    f"`mixture_distribution.batch_shape` ({of_weights}) is not compatible with "
                    f"`component_distribution.batch_shape`({of_components})",
                    "The weights have the batch of the components, or none.",
                )
        n_weights = mixture_distribution.logits.shape[-1]
        n_components = component_distribution.batch_shape[-1]
        if n_weights != n_components:
            raise errors.value_error(
                f"`mixture_distribution component` ({n_weights}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({n_components})",
                "There is one weight for each component.",
            )
        self._num_component = n_weights
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(of_components, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        batch_shape = torch.Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        components = self._component_distribution
        new._component_distribution = components.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        event_shape = new._component_distribution.event_shape
        return self._finish(MixtureSameFamily, new, batch_shape, event_shape)

    @constraints.dependent_property
    def support(self) -> Any:
        """Where every component has its samples."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the components' numbers."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last dimension of the batch."""
        return self._component_distribution

    def _weighted(self, x: Any) -> Any:
        """The mean of `x` over the components, which are its dimension before the event's."""
        weights = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(weights * x, dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        """The weighted mean of the components' means."""
        return self._weighted(self.component_distribution.mean)

    @property
    def variance(self) -> Any:
        """The mean of the variances, and the variance of the means."""
        means = self.component_distribution.mean
        distance = means - self._pad(self.mean)
        return self._weighted(self.component_distribution.variance) + self._weighted(
            distance.pow(2.0)
        )

    def cdf(self, x: Any) -> Any:
        chances = self.component_distribution.cdf(self._pad(x))
        return torch.sum(chances * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Any) -> Any:
        if self._validate_args:
            self._validate_sample(x)
        log_probs = self.component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(log_probs + weights, dim=-1)

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        with torch.no_grad():
            axis = len(sample_shape) + len(self.batch_shape)  # of the components
            index = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            index = index.reshape(index.shape + (1,) * (self._event_ndims + 1))
            index = index.repeat((1,) * (index.dim() - self._event_ndims) + self.event_shape)
            return torch.gather(drawn, axis, index).squeeze(axis)

    def _pad(self, x: Any) -> Any:
        """A dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Any) -> Any:
        """Weights with dimensions of 1 for those of batch and event that only components have."""
        n_batch = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        missing = 0 if self.mixture_distribution.batch_shape else n_batch
        ones = (1,) * missing, (1,) * self._event_ndims
        return x.reshape(x.shape[:-1] + ones[0] + x.shape[-1:] + ones[1])

    def __repr__(self) -> str:
        parts = f"\n  {self.mixture_distribution},\n  {self.component_distribution}"
        return f"MixtureSameFamily({parts})"
