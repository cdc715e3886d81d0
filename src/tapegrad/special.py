"""torch.special: special functions under the names of the mathematical literature."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.operators.nn.softmax import log_softmax, softmax
from tapegrad.operators.pointwise.exp_log import exp2, expm1, log1p
from tapegrad.operators.pointwise.rounding_abs_sign import special_round as round
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import logit, xlogy
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import sigmoid as expit
from tapegrad.operators.pointwise.special.bessel import (
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
from tapegrad.operators.pointwise.special.bessel_k_airy import (
    airy_ai,
    modified_bessel_k0,
    modified_bessel_k1,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    spherical_bessel_j0,
)
from tapegrad.operators.pointwise.special.erf_gamma import digamma, erf, erfc, erfinv, polygamma
from tapegrad.operators.pointwise.special.erf_gamma import digamma as psi
from tapegrad.operators.pointwise.special.erf_gamma import lgamma as gammaln
from tapegrad.operators.pointwise.special.incomplete_gamma import igamma as gammainc
from tapegrad.operators.pointwise.special.incomplete_gamma import igammac as gammaincc
from tapegrad.operators.pointwise.special.incomplete_gamma import mvlgamma as multigammaln
from tapegrad.operators.pointwise.special.incomplete_gamma import xlog1py, zeta
from tapegrad.operators.pointwise.special.ndtr_entr import entr, erfcx, log_ndtr, ndtr, ndtri
from tapegrad.operators.pointwise.special.polynomial import (
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
from tapegrad.operators.pointwise.trigonometry import sinc
from tapegrad.operators.reduction.logsumexp import logsumexp

__all__ = [
    "airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "chebyshev_polynomial_t",
    "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "digamma", "entr",
    "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln",
    "hermite_polynomial_h", "hermite_polynomial_he", "i0", "i0e", "i1", "i1e",
    "laguerre_polynomial_l", "legendre_polynomial_p", "log1p", "log_ndtr", "log_softmax", "logit",
    "logsumexp", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "multigammaln", "ndtr", "ndtri", "polygamma", "psi", "round",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "sinc", "softmax", "spherical_bessel_j0", "xlog1py", "xlogy",
    "zeta",
]  # fmt: skip

__getattr__ = _refuses(__name__)
