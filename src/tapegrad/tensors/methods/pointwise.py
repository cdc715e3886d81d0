"""Methods of elementwise mathematics; arithmetic with its Python operators is in arithmetic.py."""

from tapegrad.core.lazy import method
from tapegrad.operators.indexing.copy_fill_zero import copy_ as _copy
from tapegrad.operators.pointwise import (
    atan2_hypot_copysign,
    exp_log,
    masked_fill_nan_to_num,
    maximum_minimum,
    pow_sqrt_square,
    real_imag_conj_angle,
    rounding_abs_sign,
    sigmoid_logit_xlogy,
    trigonometry,
    where_clamp,
)
from tapegrad.operators.pointwise.special import erf_gamma

_FREXP = "tapegrad.operators.pointwise.frexp_nextafter_heaviside"


class ElementwiseMethods:
    """Functions of each element, parts of complex numbers among them."""

    __slots__ = ()

    exp, exp_ = exp_log.exp, exp_log.exp_
    exp2, exp2_ = exp_log.exp2, exp_log.exp2_
    expm1, expm1_ = exp_log.expm1, exp_log.expm1_
    log, log_ = exp_log.log, exp_log.log_
    log2, log2_ = exp_log.log2, exp_log.log2_
    log10, log10_ = exp_log.log10, exp_log.log10_
    log1p, log1p_ = exp_log.log1p, exp_log.log1p_

    sigmoid, sigmoid_ = sigmoid_logit_xlogy.sigmoid, sigmoid_logit_xlogy.sigmoid_
    logit, logit_ = sigmoid_logit_xlogy.logit, sigmoid_logit_xlogy.logit_
    logaddexp = sigmoid_logit_xlogy.logaddexp
    logaddexp2 = sigmoid_logit_xlogy.logaddexp2
    xlogy, xlogy_ = sigmoid_logit_xlogy.xlogy, sigmoid_logit_xlogy.xlogy_

    sqrt, sqrt_ = pow_sqrt_square.sqrt, pow_sqrt_square.sqrt_
    rsqrt, rsqrt_ = pow_sqrt_square.rsqrt, pow_sqrt_square.rsqrt_
    square, square_ = pow_sqrt_square.square, pow_sqrt_square.square_

    sin, sin_ = trigonometry.sin, trigonometry.sin_
    cos, cos_ = trigonometry.cos, trigonometry.cos_
    tan, tan_ = trigonometry.tan, trigonometry.tan_
    asin = arcsin = trigonometry.asin
    asin_ = arcsin_ = trigonometry.asin_
    acos = arccos = trigonometry.acos
    acos_ = arccos_ = trigonometry.acos_
    atan = arctan = trigonometry.atan
    atan_ = arctan_ = trigonometry.atan_
    sinh, sinh_ = trigonometry.sinh, trigonometry.sinh_
    cosh, cosh_ = trigonometry.cosh, trigonometry.cosh_
    tanh, tanh_ = trigonometry.tanh, trigonometry.tanh_
    asinh = arcsinh = trigonometry.asinh
    asinh_ = arcsinh_ = trigonometry.asinh_
    acosh = arccosh = trigonometry.acosh
    acosh_ = arccosh_ = trigonometry.acosh_
    atanh = arctanh = trigonometry.atanh
    atanh_ = arctanh_ = trigonometry.atanh_

    abs = absolute = __abs__ = rounding_abs_sign.abs
    abs_ = absolute_ = rounding_abs_sign.abs_
    sign, sign_ = rounding_abs_sign.sign, rounding_abs_sign.sign_
    sgn, sgn_ = rounding_abs_sign.sgn, rounding_abs_sign.sgn_
    floor, floor_ = rounding_abs_sign.floor, rounding_abs_sign.floor_
    ceil, ceil_ = rounding_abs_sign.ceil, rounding_abs_sign.ceil_
    round, round_ = rounding_abs_sign.round, rounding_abs_sign.round_
    trunc = fix = rounding_abs_sign.trunc
    trunc_ = fix_ = rounding_abs_sign.trunc_
    frac, frac_ = rounding_abs_sign.frac, rounding_abs_sign.frac_

    clamp = clip = where_clamp.clamp
    clamp_ = clip_ = where_clamp.clamp_
    clamp_min, clamp_min_ = where_clamp.clamp_min, where_clamp.clamp_min_
    clamp_max, clamp_max_ = where_clamp.clamp_max, where_clamp.clamp_max_
    maximum = maximum_minimum.maximum
    minimum = maximum_minimum.minimum
    fmax = maximum_minimum.fmax
    fmin = maximum_minimum.fmin

    masked_fill = masked_fill_nan_to_num.masked_fill
    masked_fill_ = masked_fill_nan_to_num.masked_fill_
    nan_to_num, nan_to_num_ = masked_fill_nan_to_num.nan_to_num, masked_fill_nan_to_num.nan_to_num_

    atan2 = arctan2 = atan2_hypot_copysign.atan2
    atan2_ = arctan2_ = atan2_hypot_copysign.atan2_
    hypot, hypot_ = atan2_hypot_copysign.hypot, atan2_hypot_copysign.hypot_
    copysign, copysign_ = atan2_hypot_copysign.copysign, atan2_hypot_copysign.copysign_
    deg2rad, deg2rad_ = atan2_hypot_copysign.deg2rad, atan2_hypot_copysign.deg2rad_
    rad2deg, rad2deg_ = atan2_hypot_copysign.rad2deg, atan2_hypot_copysign.rad2deg_

    erf, erf_ = erf_gamma.erf, erf_gamma.erf_
    erfc, erfc_ = erf_gamma.erfc, erf_gamma.erfc_
    erfinv, erfinv_ = erf_gamma.erfinv, erf_gamma.erfinv_
    lgamma, lgamma_ = erf_gamma.lgamma, erf_gamma.lgamma_
    digamma, digamma_ = erf_gamma.digamma, erf_gamma.digamma_

    i0 = method("tapegrad.operators.pointwise.special.bessel", "i0")
    i0_ = method("tapegrad.operators.pointwise.special.bessel", "i0_")
    igamma = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igamma")
    igamma_ = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igamma_")
    igammac = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igammac")
    igammac_ = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igammac_")
    mvlgamma = method("tapegrad.operators.pointwise.special.incomplete_gamma", "mvlgamma")
    mvlgamma_ = method("tapegrad.operators.pointwise.special.incomplete_gamma", "mvlgamma_")
    frexp = method(_FREXP)
    ldexp, ldexp_ = method(_FREXP), method(_FREXP)
    nextafter = method(_FREXP)
    nextafter_ = method(_FREXP)
    gcd, gcd_ = method(_FREXP), method(_FREXP)
    lcm, lcm_ = method(_FREXP), method(_FREXP)
    heaviside = method(_FREXP)
    heaviside_ = method(_FREXP)
    signbit = method(_FREXP)
    isposinf = method(_FREXP)
    isneginf = method(_FREXP)
    isreal = method(_FREXP)
    sinc, sinc_ = trigonometry.sinc, trigonometry.sinc_
    polygamma_ = erf_gamma.polygamma_

    def polygamma(self, n):
        """The derivative of order `n` of the digamma function.

        >>> torch.tensor([1.0]).polygamma(1)
        tensor([1.6449])
        """
        return erf_gamma.polygamma(n, self)

    def where(self, condition, other):
        """The tensor's elements where `condition` is true, else those of `other`.

        >>> torch.tensor([1.0, 2.0]).where(torch.tensor([True, False]), 0)
        tensor([1., 0.])
        """
        return where_clamp.where(condition, self, other)

    # complex numbers
    conj = real_imag_conj_angle.conj
    _conj = real_imag_conj_angle._conj
    _neg_view = real_imag_conj_angle._neg_view
    conj_physical = real_imag_conj_angle.conj_physical
    conj_physical_ = real_imag_conj_angle.conj_physical_
    resolve_conj = real_imag_conj_angle.resolve_conj
    resolve_neg = real_imag_conj_angle.resolve_neg
    angle = real_imag_conj_angle.angle

    @property
    def real(self):
        """The real parts, a view; a real tensor as it is.

        >>> torch.tensor([1 + 2j]).real
        tensor([1.])
        """
        return real_imag_conj_angle.real(self)

    @real.setter
    def real(self, value):
        _copy(real_imag_conj_angle.real(self), value)

    @property
    def imag(self):
        """The imaginary parts, a view.

        >>> torch.tensor([1 + 2j]).imag
        tensor([2.])
        """
        return real_imag_conj_angle.imag(self)

    @imag.setter
    def imag(self, value):
        _copy(real_imag_conj_angle.imag(self), value)
