"""torch.special: special functions under the names of the mathematical literature."""

from tapegrad.ops.bessel import (
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    i0,
    i0e,
    i1,
    i1e,
    modified_bessel_i0,
    modified_bessel_i1,
)
from tapegrad.ops.exponential import exp2, expm1, log1p
from tapegrad.ops.gaussian import entr, erfcx, log_ndtr, ndtr, ndtri
from tapegrad.ops.incomplete import igamma as gammainc
from tapegrad.ops.incomplete import igammac as gammaincc
from tapegrad.ops.incomplete import mvlgamma as multigammaln
from tapegrad.ops.incomplete import xlog1py, zeta
from tapegrad.ops.logistic import logit, xlogy
from tapegrad.ops.logistic import sigmoid as expit
from tapegrad.ops.rounding import round
from tapegrad.ops.special_function import digamma, erf, erfc, erfinv, polygamma
from tapegrad.ops.special_function import digamma as psi
from tapegrad.ops.special_function import lgamma as gammaln
from tapegrad.ops.trigonometry import sinc

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "logit",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "xlog1py",
    "xlogy",
    "zeta",
]
