"""torch.special: special functions under the names of the mathematical literature."""

from tapegrad.ops.exponential import exp2, expm1, log1p
from tapegrad.ops.logistic import logit, xlogy
from tapegrad.ops.logistic import sigmoid as expit
from tapegrad.ops.rounding import round
from tapegrad.ops.special_function import digamma, erf, erfc, erfinv, polygamma
from tapegrad.ops.special_function import digamma as psi
from tapegrad.ops.special_function import lgamma as gammaln
from tapegrad.ops.trigonometry import sinc

__all__ = [
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "log1p",
    "logit",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "xlogy",
]
