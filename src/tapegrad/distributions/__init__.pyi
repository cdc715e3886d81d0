# Written by `python -m tools.stubs`.

from collections.abc import Callable
from typing import Any

from tapegrad.distributions.bernoulli import Bernoulli as Bernoulli
from tapegrad.distributions.beta import Beta as Beta
from tapegrad.distributions.binomial import Binomial as Binomial
from tapegrad.distributions.categorical import Categorical as Categorical
from tapegrad.distributions.cauchy import Cauchy as Cauchy
from tapegrad.distributions.chi2 import Chi2 as Chi2
from tapegrad.distributions.composed_transforms import CatTransform as CatTransform
from tapegrad.distributions.composed_transforms import ComposeTransform as ComposeTransform
from tapegrad.distributions.composed_transforms import IndependentTransform as IndependentTransform
from tapegrad.distributions.composed_transforms import ReshapeTransform as ReshapeTransform
from tapegrad.distributions.composed_transforms import StackTransform as StackTransform
from tapegrad.distributions.constraint_registry import ConstraintRegistry
from tapegrad.distributions.continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
from tapegrad.distributions.dirichlet import Dirichlet as Dirichlet
from tapegrad.distributions.distribution import Distribution as Distribution
from tapegrad.distributions.elementwise_transforms import AbsTransform as AbsTransform
from tapegrad.distributions.elementwise_transforms import AffineTransform as AffineTransform
from tapegrad.distributions.elementwise_transforms import (
    CumulativeDistributionTransform as CumulativeDistributionTransform,
)
from tapegrad.distributions.elementwise_transforms import ExpTransform as ExpTransform
from tapegrad.distributions.elementwise_transforms import PowerTransform as PowerTransform
from tapegrad.distributions.elementwise_transforms import SigmoidTransform as SigmoidTransform
from tapegrad.distributions.elementwise_transforms import SoftplusTransform as SoftplusTransform
from tapegrad.distributions.elementwise_transforms import TanhTransform as TanhTransform
from tapegrad.distributions.exp_family import ExponentialFamily as ExponentialFamily
from tapegrad.distributions.exponential import Exponential as Exponential
from tapegrad.distributions.fishersnedecor import FisherSnedecor as FisherSnedecor
from tapegrad.distributions.gamma import Gamma as Gamma
from tapegrad.distributions.generalized_pareto import GeneralizedPareto as GeneralizedPareto
from tapegrad.distributions.geometric import Geometric as Geometric
from tapegrad.distributions.gumbel import Gumbel as Gumbel
from tapegrad.distributions.half_cauchy import HalfCauchy as HalfCauchy
from tapegrad.distributions.half_normal import HalfNormal as HalfNormal
from tapegrad.distributions.independent import Independent as Independent
from tapegrad.distributions.inverse_gamma import InverseGamma as InverseGamma
from tapegrad.distributions.kumaraswamy import Kumaraswamy as Kumaraswamy
from tapegrad.distributions.laplace import Laplace as Laplace
from tapegrad.distributions.lkj_cholesky import LKJCholesky as LKJCholesky
from tapegrad.distributions.log_normal import LogNormal as LogNormal
from tapegrad.distributions.logistic_normal import LogisticNormal as LogisticNormal
from tapegrad.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal as LowRankMultivariateNormal,
)
from tapegrad.distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from tapegrad.distributions.multinomial import Multinomial as Multinomial
from tapegrad.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from tapegrad.distributions.negative_binomial import NegativeBinomial as NegativeBinomial
from tapegrad.distributions.normal import Normal as Normal
from tapegrad.distributions.one_hot_categorical import OneHotCategorical as OneHotCategorical
from tapegrad.distributions.one_hot_categorical import (
    OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
)
from tapegrad.distributions.pareto import Pareto as Pareto
from tapegrad.distributions.poisson import Poisson as Poisson
from tapegrad.distributions.relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
from tapegrad.distributions.relaxed_categorical import (
    RelaxedOneHotCategorical as RelaxedOneHotCategorical,
)
from tapegrad.distributions.simplex_cholesky_transforms import (
    CorrCholeskyTransform as CorrCholeskyTransform,
)
from tapegrad.distributions.simplex_cholesky_transforms import (
    LowerCholeskyTransform as LowerCholeskyTransform,
)
from tapegrad.distributions.simplex_cholesky_transforms import (
    PositiveDefiniteTransform as PositiveDefiniteTransform,
)
from tapegrad.distributions.simplex_cholesky_transforms import SoftmaxTransform as SoftmaxTransform
from tapegrad.distributions.simplex_cholesky_transforms import (
    StickBreakingTransform as StickBreakingTransform,
)
from tapegrad.distributions.studentT import StudentT as StudentT
from tapegrad.distributions.transform import Transform as Transform
from tapegrad.distributions.transformed_distribution import (
    TransformedDistribution as TransformedDistribution,
)
from tapegrad.distributions.uniform import Uniform as Uniform
from tapegrad.distributions.von_mises import VonMises as VonMises
from tapegrad.distributions.weibull import Weibull as Weibull
from tapegrad.distributions.wishart import Wishart as Wishart
from tapegrad.tensors.tensor import Tensor

biject_to: ConstraintRegistry
identity_transform: ComposeTransform

def kl_divergence(p: Distribution, q: Distribution) -> Tensor: ...
def register_kl(type_p: type[Any], type_q: type[Any]) -> Callable[..., Any]: ...

transform_to: ConstraintRegistry
