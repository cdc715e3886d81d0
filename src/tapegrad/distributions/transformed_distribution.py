"""What becomes of a distribution under transforms."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.independent import Independent
from tapegrad.distributions.transforms import ComposeTransform, Transform
from tapegrad.distributions.utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of `f(x)` for x of a distribution and f a transform.

    Its density is that of x divided by how much f stretches volumes there:
    `log p(y) = log p(x) - log |det df/dx|`.

    Args:
        base_distribution: that of x.
        transforms: one transform, or a list of them, of which the first comes first.

    Raises: ValueError for what is no transform, or for a base of too few dimensions.

    >>> D = torch.distributions
    >>> d = D.TransformedDistribution(D.Normal(0.0, 1.0), [D.ExpTransform()])
    >>> d.log_prob(torch.tensor(2.0)), D.LogNormal(0.0, 1.0).log_prob(torch.tensor(2.0))
    (tensor(-1.8523), tensor(-1.8523))
    """

    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif not isinstance(transforms, list):
            raise errors.value_error(
                f"transforms must be a Transform or list, but was {transforms}",
                "[f, g] applies f, then g.",
            )
        elif not all(isinstance(t, Transform) for t in transforms):
            raise errors.value_error(
                "transforms must be a Transform or a list of Transforms",
                "[f, g] applies f, then g.",
            )
        else:
            self.transforms = transforms
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        transform = ComposeTransform(self.transforms)
        if len(base_shape) < transform.domain.event_dim:
            raise errors.value_error(
                "base_distribution needs to have shape with size at least "
                f"{transform.domain.event_dim}, but got {base_shape}.",
                "The transform takes events of that many dimensions.",
            )
        shape = transform.forward_shape(base_shape)
        expanded = transform.inverse_shape(shape)
        if base_shape != expanded:  # parameters of the transform have a larger batch
            n = len(base_distribution.event_shape)
            base_distribution = base_distribution.expand(expanded[: len(expanded) - n])
        more = transform.domain.event_dim - base_event_dim
        if more > 0:
            base_distribution = Independent(base_distribution, more)
        self.base_dist = base_distribution
        # dimensions of events of the base that the transform treats as independent stay such
        change = transform.codomain.event_dim - transform.domain.event_dim
        event_dim = max(transform.codomain.event_dim, base_event_dim + change)
        cut = len(shape) - event_dim
        super().__init__(
            torch.Size(shape[:cut]), torch.Size(shape[cut:]), validate_args=validate_args
        )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        batch_shape = torch.Size(batch_shape)
        transform = ComposeTransform(self.transforms)
        base_shape = transform.inverse_shape(batch_shape + self.event_shape)
        n_batch = len(base_shape) - len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(base_shape[:n_batch])
        new.transforms = self.transforms
        return self._finish(TransformedDistribution, new, batch_shape, self.event_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The codomain of the last transform."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> bool:
        """That of the base."""
        return self.base_dist.has_rsample

    def _through(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        with torch.no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        event_dim = len(self.event_shape)
        log_prob: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            volume = transform.log_abs_det_jacobian(x, y)
            log_prob = log_prob - _sum_rightmost(volume, event_dim - transform.domain.event_dim)
            y = x
        base = self.base_dist.log_prob(y)
        return log_prob + _sum_rightmost(base, event_dim - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Any) -> Any:
        """Turn a probability over where the transforms fall: the order of x and y is another."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._through(self.base_dist.icdf(self._monotonize_cdf(value)))
