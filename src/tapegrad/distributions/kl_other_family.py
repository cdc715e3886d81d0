"""Kullback-Leibler divergences from one family to another.

Each is the mean of `-log q(x)` over p, less the entropy of p. It is infinite where p has samples
that q has not.
"""

from __future__ import annotations

import math
from typing import Any

import tapegrad as torch
from tapegrad.distributions.bernoulli import Bernoulli
from tapegrad.distributions.beta import Beta
from tapegrad.distributions.binomial import Binomial
from tapegrad.distributions.continuous_bernoulli import ContinuousBernoulli
from tapegrad.distributions.exponential import Exponential
from tapegrad.distributions.gamma import Gamma
from tapegrad.distributions.gumbel import Gumbel
from tapegrad.distributions.kl import register_kl
from tapegrad.distributions.laplace import Laplace
from tapegrad.distributions.normal import Normal
from tapegrad.distributions.pareto import Pareto
from tapegrad.distributions.poisson import Poisson
from tapegrad.distributions.uniform import Uniform
from tapegrad.distributions.utils import euler_constant as _euler_gamma


def _infinite_like(tensor: Any) -> Any:
    return torch.full_like(tensor, torch.inf)


# p is not confined to where q has its samples
for _p, _names, _qs in (
    (Beta, "concentration1", (Pareto,)),
    (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
    (ContinuousBernoulli, "probs", (Pareto,)),
):
    for _q in _qs:
        register_kl(_p, _q)(lambda p, q, name=_names: _infinite_like(getattr(p, name)))


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


# --- from beta ------------------------------------------------------------------------------------


def _beta_mean_log(p: Any) -> tuple:
    """The means of log x and of log(1 - x)."""
    total = torch.digamma(p.concentration1 + p.concentration0)
    return p.concentration1.digamma() - total, p.concentration0.digamma() - total


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Any, q: Any) -> Any:
    norm = torch.log1p(-q.probs) + q._cont_bern_log_norm()
    return -p.entropy() - p.mean * q.logits - norm


@register_kl(Beta, Exponential)
def _beta_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    norm = q.concentration.lgamma() - q.concentration * q.rate.log()
    weighted = (q.concentration - 1) * _beta_mean_log(p)[0]
    return -p.entropy() + norm - weighted + q.rate * p.mean


def _squared_distance(p: Any, q: Any) -> Any:
    """The mean of `(x - loc)^2 / 2 scale^2` of a normal q."""
    return 0.5 * (p.variance + (q.loc - p.mean).pow(2)) / q.scale.pow(2)


def _normal_norm(q: Any) -> Any:
    return 0.5 * math.log(2 * math.pi) + q.scale.log()


@register_kl(Beta, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
def _any_normal(p: Any, q: Any) -> Any:
    return -p.entropy() + _normal_norm(q) + _squared_distance(p, q)


@register_kl(ContinuousBernoulli, Normal)
@register_kl(Uniform, Normal)
def _bounded_normal(p: Any, q: Any) -> Any:
    distance = _squared_distance(p, q)  # first, for the error of shapes that do not fit
    return -p.entropy() + _normal_norm(q) + distance


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    kl = -p.entropy() + (q.high - q.low).log()
    return torch.where(
        (q.low > p.support.lower_bound) | (q.high < p.support.upper_bound), torch.inf, kl
    )


# --- from continuous Bernoulli --------------------------------------------------------------------


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    kl = -p.entropy() + (q.high - q.low).log()
    # as PyTorch has it, infinite at equality, too
    outside = (q.low >= p.support.lower_bound) | (q.high <= p.support.upper_bound)
    return torch.where(outside, torch.inf, kl)


# --- from exponential and gamma -------------------------------------------------------------------


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    shape = q.concentration
    return -shape * ratio.log() + ratio + shape.lgamma() + shape * _euler_gamma - (1 + _euler_gamma)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    distance = q.loc / q.scale
    mean_exp = torch.exp(distance) * product / (product + 1)
    return product.log() - 1 + product.reciprocal() - distance + mean_exp


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    distance = q.loc / q.scale
    own = (p.concentration - 1) * p.concentration.digamma() - p.concentration.lgamma()
    mean_exp = torch.exp(distance) * (1 + product.reciprocal()).pow(-p.concentration)
    return own - p.concentration + product.log() + p.concentration / product - distance + mean_exp


# --- from normal, Laplace, Pareto, uniform --------------------------------------------------------


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc) / q.scale
    mean_exp = torch.exp(-distance + 0.5 * ratio.pow(2))
    return -ratio.log() + distance + mean_exp - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    """The mean distance of a normal number from a point is that of a folded normal one."""
    distance = p.loc - q.loc
    ratio, standard = p.scale / q.scale, distance / p.scale
    mean_distance = math.sqrt(2 / math.pi) * p.scale * torch.exp(
        -0.5 * standard.pow(2)
    ) + distance * torch.erf(math.sqrt(0.5) * standard)
    return -ratio.log() + mean_distance / q.scale - 0.5 * (1 + math.log(0.5 * math.pi))


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Any:
    product = p.scale * q.rate
    kl = (p.alpha / product).log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    kl[p.alpha <= 1] = torch.inf
    return kl


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    mean_log = p.scale.log() + p.alpha.reciprocal()
    own = p.alpha.log() - mean_log
    norm = q.concentration.lgamma() - q.concentration * q.rate.log()
    mean = p.alpha * p.scale / (p.alpha - 1)
    weighted = (1 - q.concentration) * mean_log
    kl = own - 1 + norm + weighted + q.rate * mean
    kl[p.alpha <= 1] = torch.inf
    return kl


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    kl = _bounded_normal(p, q)
    kl[p.alpha <= 2] = torch.inf
    return kl


def _uniform_outside(p: Any, kl: Any, low: Any, high: Any) -> Any:
    outside = p.low < low if high is None else (p.low < low) | (p.high > high)
    return torch.where(outside, torch.inf, kl)


def _x_log_x(x: Any) -> Any:
    return torch.special.xlogy(x, x)


def _uniform_mean_log(p: Any) -> Any:
    return (_x_log_x(p.high) - _x_log_x(p.low)) / (p.high - p.low) - 1


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    width = p.high - p.low
    one = (q.concentration1 - 1) * _uniform_mean_log(p)
    mean_log_rest = (_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + width) / width
    zero = (q.concentration0 - 1) * mean_log_rest
    norm = (
        q.concentration1.lgamma()
        + q.concentration0.lgamma()
        - (q.concentration1 + q.concentration0).lgamma()
    )
    kl = zero + norm - width.log() - one
    return _uniform_outside(p, kl, q.support.lower_bound, q.support.upper_bound)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    norm = q._cont_bern_log_norm() + torch.log1p(-q.probs)
    kl = -p.entropy() - p.mean * q.logits - norm
    # as PyTorch has it, infinite at equality, too
    outside = (p.low <= q.support.lower_bound) | (p.high >= q.support.upper_bound)
    return torch.where(outside, torch.inf, kl)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    kl = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return _uniform_outside(p, kl, q.support.lower_bound, None)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    norm = q.concentration.lgamma() - q.concentration * q.rate.log()
    own = -(p.high - p.low).log()
    slope = (1 - q.concentration) * _uniform_mean_log(p)
    kl = own + norm + slope + q.rate * (p.high + p.low) / 2
    return _uniform_outside(p, kl, q.support.lower_bound, None)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    share = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return share.log() + 0.5 * (high + low) - share * (torch.exp(-high) - torch.exp(-low))


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    own = -(p.high - p.low).log()
    norm = -(q.alpha.log() + q.alpha * q.scale.log())
    kl = own + norm + (q.alpha + 1) * _uniform_mean_log(p)
    return _uniform_outside(p, kl, q.support.lower_bound, None)
