"""Kullback-Leibler divergences within a family."""

from __future__ import annotations

from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions.bernoulli import Bernoulli
from tapegrad.distributions.beta import Beta
from tapegrad.distributions.binomial import Binomial
from tapegrad.distributions.categorical import Categorical
from tapegrad.distributions.cauchy import Cauchy
from tapegrad.distributions.continuous_bernoulli import ContinuousBernoulli
from tapegrad.distributions.dirichlet import Dirichlet
from tapegrad.distributions.exp_family import ExponentialFamily
from tapegrad.distributions.exponential import Exponential
from tapegrad.distributions.gamma import Gamma
from tapegrad.distributions.geometric import Geometric
from tapegrad.distributions.gumbel import Gumbel
from tapegrad.distributions.half_normal import HalfNormal
from tapegrad.distributions.independent import Independent
from tapegrad.distributions.kl import kl_divergence, register_kl
from tapegrad.distributions.laplace import Laplace
from tapegrad.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from tapegrad.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis
from tapegrad.distributions.normal import Normal
from tapegrad.distributions.one_hot_categorical import OneHotCategorical
from tapegrad.distributions.pareto import Pareto
from tapegrad.distributions.poisson import Poisson
from tapegrad.distributions.transformed_distribution import TransformedDistribution
from tapegrad.distributions.uniform import Uniform
from tapegrad.distributions.utils import _sum_rightmost
from tapegrad.distributions.utils import euler_constant as _euler_gamma
from tapegrad.nn.functional import softplus


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, torch.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero = zero.masked_fill(q.probs == 1, torch.inf).masked_fill(p.probs == 1, 0)
    return one + zero


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    p_total = p.concentration1 + p.concentration0
    q_total = q.concentration1 + q.concentration0
    log_q = q.concentration1.lgamma() + q.concentration0.lgamma() + p_total.lgamma()
    log_p = p.concentration1.lgamma() + p.concentration0.lgamma() + q_total.lgamma()
    one = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    zero = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    return log_q - log_p + one + zero + (q_total - p_total) * torch.digamma(p_total)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise errors.not_implemented(
            "KL between Binomials where q.total_count > p.total_count is not implemented",
            "It is a sum over counts, for which there is no formula.",
        )
    odds = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    kl = p.total_count * odds
    more = p.total_count > q.total_count
    kl[more] = torch.inf
    return kl


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = torch.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    slope = p.mean * (p.logits - q.logits)
    norm = p._cont_bern_log_norm() - q._cont_bern_log_norm()
    return slope + norm + torch.log1p(-p.probs) - torch.log1p(-q.probs)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    """Source: Chyzak and Nielsen, "A closed-form formula for the KL of Cauchy densities", 2019."""
    distance = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return distance - (4 * p.scale * q.scale).log()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    p_total, q_total = p.concentration.sum(-1), q.concentration.sum(-1)
    totals = p_total.lgamma() - q_total.lgamma()
    parts = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    mean_log = p.concentration.digamma() - p_total.digamma().unsqueeze(-1)
    return totals - parts + ((p.concentration - q.concentration) * mean_log).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """The Bregman divergence of the normaliser. Source: Nielsen and Nock, 2010."""
    if type(p) is not type(q):
        raise errors.not_implemented(
            "The cross KL-divergence between different exponential families cannot "
            "                            be computed using Bregman divergences",
            "The mean of p.log_prob(x) - q.log_prob(x) over samples estimates it.",
        )
    p_theta = [x.detach().requires_grad_() for x in p._natural_params]
    q_theta = q._natural_params
    log_normalizer = p._log_normalizer(*p_theta)
    slopes = torch.autograd.grad(log_normalizer.sum(), p_theta, create_graph=True)
    result = q._log_normalizer(*q_theta) - log_normalizer
    for x, y, slope in zip(p_theta, q_theta, slopes, strict=True):
        result = result - _sum_rightmost((y - x) * slope, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    rates = q.concentration * (p.rate / q.rate).log()
    norms = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    shapes = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    return rates + norms + shapes + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc) / q.scale
    moved = -distance + torch.lgamma(ratio + 1)
    return -ratio.log() + distance + ratio * _euler_gamma + torch.exp(moved) - (1 + _euler_gamma)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    """Infinite where p has numbers below those of q."""
    scales, alphas = p.scale / q.scale, q.alpha / p.alpha
    kl = q.alpha * scales.log() - alphas.log() + alphas - 1
    return torch.where(p.support.lower_bound < q.support.lower_bound, torch.inf, kl)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    """Infinite where p has numbers that q lacks."""
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), torch.inf, kl)


# --- multivariate normal ones: half of log det ratio, trace, distance, less the dimension ---------


def _trace(left: Any) -> Any:
    """The trace of `A A'`, of matrices (*, n, m)."""
    return left.pow(2).sum((-2, -1))


def _solved(factor: Any, matrix: Any) -> Any:
    return torch.linalg.solve_triangular(factor, matrix, upper=False)


def _need_one_dimension(kind: str, p: Any, q: Any) -> None:
    if p.event_shape != q.event_shape:
        gap = " " * 26  # as in PyTorch's message
        raise errors.value_error(
            f"KL-divergence between two {kind}s with{gap}different event shapes cannot be computed",
            "Both are distributions of vectors of one length.",
        )


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Any:
    _need_one_dimension("Multivariate Normal", p, q)
    n = p.event_shape[0]
    batch = torch.broadcast_shapes(
        p._unbroadcasted_scale_tril.shape[:-2], q._unbroadcasted_scale_tril.shape[:-2]
    )
    q_factor = q._unbroadcasted_scale_tril.expand((*batch, n, n))
    p_factor = p._unbroadcasted_scale_tril.expand((*batch, n, n))
    trace = _trace(_solved(q_factor, p_factor))
    distance = _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + distance - n)


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_and_full(p: Any, q: Any) -> Any:
    _need_one_dimension("(Low Rank) Multivariate Normal", p, q)
    n = p.event_shape[0]
    batch = torch.broadcast_shapes(
        q._unbroadcasted_scale_tril.shape[:-2], p._unbroadcasted_cov_factor.shape[:-2]
    )
    q_factor = q._unbroadcasted_scale_tril.expand((*batch, n, n))
    p_factor = p._unbroadcasted_cov_factor.expand((*batch, n, p.cov_factor.size(-1)))
    p_diagonal = torch.diag_embed(p._unbroadcasted_cov_diag.sqrt()).expand((*batch, n, n))
    trace = _trace(_solved(q_factor, p_factor)) + _trace(_solved(q_factor, p_diagonal))
    distance = _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    log_dets = 2 * q._half_log_det() - p._log_det()
    return 0.5 * (log_dets + trace + distance - n)


def _distance_to_lowrank(p: Any, q: Any) -> Any:
    return _batch_lowrank_mahalanobis(
        q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q.loc - p.loc, q._capacitance_tril
    )


def _scaled_factor(q: Any) -> tuple:
    """The diagonal of q, and A of its inverse covariance `D^-1 - A' A`."""
    diagonal = q._unbroadcasted_cov_diag
    scaled = q._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
    return diagonal, _solved(q._capacitance_tril, scaled)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _full_and_lowrank(p: Any, q: Any) -> Any:
    _need_one_dimension("(Low Rank) Multivariate Normal", p, q)
    diagonal, A = _scaled_factor(q)
    factor = p._unbroadcasted_scale_tril
    trace = _trace(factor * diagonal.rsqrt().unsqueeze(-1)) - _trace(A.matmul(factor))
    log_dets = q._log_det() - 2 * p._half_log_det()
    return 0.5 * (log_dets + trace + _distance_to_lowrank(p, q) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank(p: Any, q: Any) -> Any:
    _need_one_dimension("Low Rank Multivariate Normal", p, q)
    diagonal, A = _scaled_factor(q)
    factor, p_diagonal = p._unbroadcasted_cov_factor, p._unbroadcasted_cov_diag
    trace = (
        (p_diagonal / diagonal).sum(-1)
        + _trace(factor * diagonal.rsqrt().unsqueeze(-1))
        - _trace(A * p_diagonal.sqrt().unsqueeze(-2))
        - _trace(A.matmul(factor))
    )
    log_dets = _batch_lowrank_logdet(
        q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q._capacitance_tril
    ) - _batch_lowrank_logdet(factor, p_diagonal, p._capacitance_tril)
    return 0.5 * (log_dets + trace + _distance_to_lowrank(p, q) - p.event_shape[0])


# --- made of others -------------------------------------------------------------------------------


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    """A bijection that both share leaves the divergence as it is."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)
