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
from tapegrad.ops.bessel_k import (
    airy_ai,
    modified_bessel_k0,
    modified_bessel_k1,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    spherical_bessel_j0,
)
from tapegrad.ops.exponential import exp2, expm1, log1p
from tapegrad.ops.fold import logsumexp
from tapegrad.ops.gaussian import entr, erfcx, log_ndtr, ndtr, ndtri
from tapegrad.ops.incomplete import igamma as gammainc
from tapegrad.ops.incomplete import igammac as gammaincc
from tapegrad.ops.incomplete import mvlgamma as multigammaln
from tapegrad.ops.incomplete import xlog1py, zeta
from tapegrad.ops.logistic import logit, xlogy
from tapegrad.ops.logistic import sigmoid as expit
from tapegrad.ops.logits import log_softmax, softmax
from tapegrad.ops.polynomial import (
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    hermite_polynomial_h,
    hermite_polynomial_he,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
)
from tapegrad.ops.rounding import round
from tapegrad.ops.special_function import digamma, erf, erfc, erfinv, polygamma
from tapegrad.ops.special_function import digamma as psi
from tapegrad.ops.special_function import lgamma as gammaln
from tapegrad.ops.trigonometry import sinc

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
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
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]


def __getattr__(name: str):
    from tapegrad.missing import missing

    raise missing(__name__, name)
