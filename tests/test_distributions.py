"""Laws of all distributions: densities sum to one, entropies, quantiles, gradients of samples."""

import numpy as np
import pytest

import tapegrad as torch
import tapegrad.distributions as D
from tests.command import python


def t(*values):
    return torch.tensor(values if len(values) > 1 else values[0], dtype=torch.float64)


# name: the distribution, and the interval that has all but a millionth of it
LINE = {
    "Beta": (lambda: D.Beta(t(2.0), t(3.0)), 1e-9, 1 - 1e-9),
    "Chi2": (lambda: D.Chi2(t(3.0)), 1e-9, 60),
    "ContinuousBernoulli": (lambda: D.ContinuousBernoulli(t(0.3)), 0, 1),
    "Exponential": (lambda: D.Exponential(t(1.5)), 0, 30),
    "FisherSnedecor": (lambda: D.FisherSnedecor(t(4.0), t(20.0)), 1e-9, 60),
    "Gamma": (lambda: D.Gamma(t(2.5), t(1.5)), 1e-9, 30),
    "GeneralizedPareto": (lambda: D.GeneralizedPareto(t(0.0), t(1.0), t(-0.25)), 0, 4 - 1e-9),
    "Gumbel": (lambda: D.Gumbel(t(0.5), t(1.0)), -5, 30),
    "HalfNormal": (lambda: D.HalfNormal(t(1.5)), 0, 15),
    "Kumaraswamy": (lambda: D.Kumaraswamy(t(2.0), t(3.0)), 1e-9, 1 - 1e-9),
    "Laplace": (lambda: D.Laplace(t(0.5), t(1.0)), -20, 20),
    "LogNormal": (lambda: D.LogNormal(t(0.0), t(0.4)), 1e-9, 15),
    "Normal": (lambda: D.Normal(t(0.5), t(1.5)), -12, 12),
    "StudentT": (lambda: D.StudentT(t(12.0), t(0.5), t(1.0)), -60, 60),
    "Uniform": (lambda: D.Uniform(t(-1.0), t(2.0)), -1, 2 - 1e-9),
    "VonMises": (lambda: D.VonMises(t(0.3), t(2.0)), -np.pi, np.pi),
    "Weibull": (lambda: D.Weibull(t(1.5), t(2.0)), 1e-9, 10),
}
COUNTED = {
    "Bernoulli": lambda: D.Bernoulli(t(0.3)),
    "Binomial": lambda: D.Binomial(6, t(0.3)),
    "Categorical": lambda: D.Categorical(t(0.2, 0.3, 0.5)),
    "OneHotCategorical": lambda: D.OneHotCategorical(t(0.2, 0.3, 0.5)),
}
MOVED = {
    "Cauchy": (D.Cauchy, (0.5, 1.5)),
    "Exponential": (D.Exponential, (1.5,)),
    "Gumbel": (D.Gumbel, (0.5, 1.5)),
    "HalfNormal": (D.HalfNormal, (1.5,)),
    "Kumaraswamy": (D.Kumaraswamy, (1.5, 2.5)),
    "Laplace": (D.Laplace, (0.5, 1.5)),
    "LogNormal": (D.LogNormal, (0.5, 0.5)),
    "Normal": (D.Normal, (0.5, 1.5)),
    "Uniform": (D.Uniform, (0.5, 1.5)),
    "Weibull": (D.Weibull, (0.5, 1.5)),
}


def grid(name):
    make, low, high = LINE[name]
    x = torch.linspace(low, high, 200_001, dtype=torch.float64)
    d = make()
    return d, x, d.log_prob(x)


@pytest.mark.parametrize("name", LINE)
def test_the_density_has_an_integral_of_one_and_its_moments(name):
    d, x, log_p = grid(name)
    p = log_p.exp()
    np.testing.assert_allclose(torch.trapezoid(p, x).item(), 1, rtol=1e-4)
    if name != "VonMises":  # whose variance is that of the circle
        mean = torch.trapezoid(p * x, x)
        np.testing.assert_allclose(mean.item(), d.mean.item(), rtol=1e-3, atol=1e-4)
        variance = torch.trapezoid(p * (x - mean) ** 2, x)
        np.testing.assert_allclose(variance.item(), d.variance.item(), rtol=2e-3)


@pytest.mark.parametrize("name", [n for n in LINE if n not in ("FisherSnedecor", "VonMises")])
def test_the_entropy_is_the_mean_of_the_negative_logarithm(name):
    d, x, log_p = grid(name)
    entropy = -torch.trapezoid(torch.special.xlogy(log_p.exp(), log_p.exp()), x)
    np.testing.assert_allclose(entropy.item(), d.entropy().item(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", COUNTED)
def test_the_probabilities_of_all_events_sum_to_one(name):
    d = COUNTED[name]()
    log_p = d.log_prob(d.enumerate_support())
    np.testing.assert_allclose(log_p.exp().sum().item(), 1, rtol=1e-12)
    np.testing.assert_allclose(-(log_p.exp() * log_p).sum().item(), d.entropy().item(), rtol=1e-12)


@pytest.mark.parametrize("name", [n for n in MOVED if n != "Cauchy"])
def test_quantiles_invert_probabilities(name):
    family, parameters = MOVED[name]
    d = family(*map(t, parameters))
    p = torch.linspace(0.05, 0.95, 7, dtype=torch.float64)
    np.testing.assert_allclose(d.cdf(d.icdf(p)).numpy(), p.numpy(), rtol=1e-9)


@pytest.mark.parametrize("name", MOVED)
def test_gradients_of_samples_are_differences_for_the_same_noise(name):
    family, parameters = MOVED[name]

    def drawn(values):
        torch.manual_seed(3)
        return family(*values).rsample((5,)).sum()

    given = [t(v).requires_grad_() for v in parameters]
    for i, g in enumerate(torch.autograd.grad(drawn(given), given)):
        sides = []
        for h in (1e-6, -1e-6):
            sides.append(drawn([t(v + h * (i == j)) for j, v in enumerate(parameters)]).item())
        np.testing.assert_allclose(g.item(), (sides[0] - sides[1]) / 2e-6, rtol=1e-5)


@pytest.mark.parametrize("pair", [("Normal", "Laplace"), ("Gamma", "Gumbel"), ("Beta", "Normal")])
def test_divergences_are_integrals(pair):
    p, x, log_p = grid(pair[0])
    q = LINE[pair[1]][0]()
    integral = torch.trapezoid(log_p.exp() * (log_p - q.log_prob(x)), x)
    np.testing.assert_allclose(D.kl_divergence(p, q).item(), integral.item(), rtol=1e-3)


@pytest.mark.parametrize("name", LINE)
def test_a_larger_batch_has_the_same_densities(name):
    d, x, log_p = grid(name)
    larger = d.expand((2, 3))
    assert larger.sample((4,)).shape == (4, 2, 3)
    np.testing.assert_array_equal(larger.log_prob(x[50_000]).numpy(), log_p[50_000].numpy())


def test_a_parameter_outside_its_set_is_refused():
    with pytest.raises(ValueError, match=r"Expected parameter scale .* distribution Normal"):
        D.Normal(0.0, -1.0)
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1


def test_a_value_outside_the_support_is_refused():
    with pytest.raises(ValueError, match="to be within the support"):
        D.Bernoulli(0.5).log_prob(torch.tensor(0.5))


def test_no_formula_for_a_pair_is_an_error():
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Cauchy(0.0, 1.0))


def test_importing_tapegrad_loads_no_distribution():
    code = "import sys, tapegrad; print('tapegrad.distributions' in sys.modules)"
    assert python("-c", code).stdout.strip() == "False"


def test_divergences_of_any_classes_may_be_given(monkeypatch):
    monkeypatch.setattr(D.kl, "_KL_REGISTRY", dict(D.kl._KL_REGISTRY))
    with pytest.raises(TypeError, match="arg 1 must be a class"):
        D.register_kl(1, D.Normal)

    class Delta(D.Normal):
        pass

    D.register_kl(Delta, int)(lambda p, q: q)
    assert D.kl_divergence(Delta(0.0, 1.0), 3) == 3
