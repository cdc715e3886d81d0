"""Batch dimensions that count as part of an event."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.distribution import Distribution
from tapegrad.distributions.utils import _sum_rightmost

__all__ = ["Independent"]

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """A distribution whose last batch dimensions are seen as one event of independent parts.

    Args:
        base_distribution: a distribution.
        reinterpreted_batch_ndims: how many of its batch dimensions.

    Raises: ValueError if the batch has fewer dimensions.

    >>> D = torch.distributions
    >>> d = D.Independent(D.Normal(torch.zeros(2, 3), 1.0), 1)
    >>> d.batch_shape, d.event_shape, d.log_prob(torch.zeros(3)).shape
    (torch.Size([2]), torch.Size([3]), torch.Size([2]))
    """

    arg_constraints: Any = {}
    base_dist: Any

    def __init__(
        self,
        base_distribution: Any,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        n_batch = len(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > n_batch:
            raise errors.value_error(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {n_batch}",
                "Only dimensions of the batch become dimensions of an event.",
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        n_batch -= reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:n_batch], shape[n_batch:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        batch_shape = torch.Size(batch_shape)
        inner = self.event_shape[: self.reinterpreted_batch_ndims]
        new.base_dist = self.base_dist.expand(batch_shape + inner)
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._finish(Independent, new, batch_shape, self.event_shape)

    @property
    def has_rsample(self) -> bool:
        """That of the parts."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:
        """That of the parts, as long as there is one part."""
        return False if self.reinterpreted_batch_ndims > 0 else self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the parts, for whole events."""
        support, n = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(support, n) if n else support

    @property
    def mean(self) -> Any:
        """Those of the parts."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """Those of the parts."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """Those of the parts."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise errors.not_implemented(
                "Enumeration over cartesian product is not implemented",
                "The events of all parts together grow exponentially with their number.",
            )
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
