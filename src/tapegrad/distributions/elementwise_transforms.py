"""Transforms of each number on its own."""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions import constraints
from tapegrad.distributions.transform import Transform
from tapegrad.distributions.utils import broadcast_all, lazy_property
from tapegrad.nn import functional as F


class _OfOneKind(Transform):
    """Transforms without parameters: all instances of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = None  # type: ignore[assignment]


class ExpTransform(_OfOneKind):
    """`y = exp(x)`.

    >>> torch.distributions.ExpTransform()(torch.tensor(1.0))
    tensor(2.7183)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The slope of exp is exp: its logarithm is x.

        >>> x = torch.tensor(1.5)
        >>> torch.distributions.ExpTransform().log_abs_det_jacobian(x, x.exp())
        tensor(1.5000)
        """
        return x


class PowerTransform(Transform):
    """`y = x ** exponent` of positive numbers.

    Args:
        exponent: a tensor that broadcasts with x.

    >>> torch.distributions.PowerTransform(torch.tensor(2.0))(torch.tensor(3.0))
    tensor(9.)
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> torch.distributions.PowerTransform(2.0).with_cache()
        PowerTransform()
        """
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size)

    @lazy_property
    def sign(self) -> Any:
        """Whether the power rises or falls: the sign of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PowerTransform):
            return False
        return bool(self.exponent.eq(other.exponent).all().item())

    __hash__ = None  # type: ignore[assignment]

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """`log |exponent y / x|`.

        >>> f = torch.distributions.PowerTransform(2.0)
        >>> f.log_abs_det_jacobian(torch.tensor(3.0), torch.tensor(9.0))
        tensor(1.7918)
        """
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        """The shape broadcast with that of the exponent.

        >>> torch.distributions.PowerTransform(torch.ones(2)).forward_shape((3, 1))
        torch.Size([3, 2])
        """
        return torch.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape


def _clipped_sigmoid(x: Any) -> Any:
    """The sigmoid function, kept off 0 and 1."""
    limits = torch.finfo(x.dtype)
    return torch.clamp(torch.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)


class SigmoidTransform(_OfOneKind):
    """`y = 1 / (1 + exp(-x))`, kept off 0 and 1.

    >>> torch.distributions.SigmoidTransform()(torch.tensor(0.0))
    tensor(0.5000)
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        limits = torch.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """`log(y (1 - y))`, by softplus functions of x.

        >>> x = torch.tensor(0.0)
        >>> torch.distributions.SigmoidTransform().log_abs_det_jacobian(x, x.sigmoid())
        tensor(-1.3863)
        """
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_OfOneKind):
    """`y = log(1 + exp(x))`; the identity where x > 20.

    >>> torch.distributions.SoftplusTransform()(torch.tensor(0.0))
    tensor(0.6931)
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The slope is a sigmoid.

        >>> x = torch.tensor(0.0)
        >>> torch.distributions.SoftplusTransform().log_abs_det_jacobian(x, None)
        tensor(-0.6931)
        """
        return -F.softplus(-x)


class TanhTransform(_OfOneKind):
    """`y = tanh(x)`.

    >>> torch.distributions.TanhTransform()(torch.tensor(0.0))
    tensor(0.)
    """

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """`log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2x))`, which does not cancel.

        >>> x = torch.tensor(20.0)
        >>> torch.distributions.TanhTransform().log_abs_det_jacobian(x, x.tanh())
        tensor(-38.6137)
        """
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(_OfOneKind):
    """`y = |x|`, which is not bijective: the inverse gives the positive x.

    >>> torch.distributions.AbsTransform()(torch.tensor(-2.0))
    tensor(2.)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """`y = loc + scale * x`.

    Args:
        loc: a tensor or a number.
        scale: a tensor or a number, not zero.
        event_dim: how many rightmost dimensions are one event: 0 where numbers are independent.

    >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor(3.0))
    tensor(7.)
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        """Dimensions of an event."""
        return self._event_dim

    def _space(self) -> Any:
        return (
            constraints.independent(constraints.real, self.event_dim)
            if self.event_dim
            else constraints.real
        )

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """All numbers, or events of them."""
        return self._space()

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """All numbers, or events of them."""
        return self._space()

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> torch.distributions.AffineTransform(0.0, 1.0).with_cache()
        AffineTransform()
        """
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _same(self.loc, other.loc) and _same(self.scale, other.scale)

    __hash__ = None  # type: ignore[assignment]

    @property
    def sign(self) -> Any:
        """The sign of the scale."""
        if isinstance(self.scale, (int, float)):
            return 1 if self.scale > 0 else -1 if self.scale < 0 else 0
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """`log |scale|`, once for each number of an event.

        >>> f = torch.distributions.AffineTransform(0.0, 2.0, event_dim=1)
        >>> f.log_abs_det_jacobian(torch.ones(3), 2 * torch.ones(3))
        tensor(2.0794)
        """
        if isinstance(self.scale, (int, float)):
            result = torch.full_like(x, math.log(abs(self.scale)))
        else:
            result = torch.abs(self.scale).log()
        shape = x.shape
        if self.event_dim:
            result = result.view((*result.size()[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        """The shape broadcast with those of loc and scale.

        >>> torch.distributions.AffineTransform(torch.ones(2), 1.0).forward_shape((3, 1))
        torch.Size([3, 2])
        """
        return torch.broadcast_shapes(
            shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        )

    inverse_shape = forward_shape


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    return bool((a == b).all().item())


class CumulativeDistributionTransform(Transform):
    """`y = F(x)`, the cumulative probability of a distribution: of its samples, uniform numbers.

    Args:
        distribution: it has `cdf`, `icdf` and `log_prob`.

    >>> d = torch.distributions.Normal(0.0, 1.0)
    >>> f = torch.distributions.CumulativeDistributionTransform(d)
    >>> f(torch.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        """Where the distribution has its samples."""
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The slope of F is the density.

        >>> d = torch.distributions.Normal(0.0, 1.0)
        >>> f = torch.distributions.CumulativeDistributionTransform(d)
        >>> f.log_abs_det_jacobian(torch.tensor(0.0), torch.tensor(0.5))
        tensor(-0.9189)
        """
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> d = torch.distributions.Normal(0.0, 1.0)
        >>> torch.distributions.CumulativeDistributionTransform(d).with_cache()
        CumulativeDistributionTransform()
        """
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)
