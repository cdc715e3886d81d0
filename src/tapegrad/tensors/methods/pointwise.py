"""Methods of elementwise mathematics; arithmetic with its Python operators is in arithmetic.py."""

from tapegrad.core.lazy import method
from tapegrad.operators.pointwise import (
    atan2_hypot,
    exp_log,
    float_parts,
    masked_fill_nan_to_num,
    maximum_minimum,
    power_sqrt,
    rounding_abs_sign,
    sigmoid_logit,
    trigonometry,
    where_clamp,
)
from tapegrad.operators.pointwise.special import erf_gamma


class ElementwiseMethods:
    """Functions of each element."""

    __slots__ = ()

    exp = exp_log.exp
    exp_ = exp_log.exp_
    exp2 = exp_log.exp2
    exp2_ = exp_log.exp2_
    expm1 = exp_log.expm1
    expm1_ = exp_log.expm1_
    log = exp_log.log
    log_ = exp_log.log_
    log2 = exp_log.log2
    log2_ = exp_log.log2_
    log10 = exp_log.log10
    log10_ = exp_log.log10_
    log1p = exp_log.log1p
    log1p_ = exp_log.log1p_

    sigmoid = sigmoid_logit.sigmoid
    sigmoid_ = sigmoid_logit.sigmoid_
    logit = sigmoid_logit.logit
    logit_ = sigmoid_logit.logit_
    logaddexp = sigmoid_logit.logaddexp
    logaddexp2 = sigmoid_logit.logaddexp2
    xlogy = sigmoid_logit.xlogy
    xlogy_ = sigmoid_logit.xlogy_

    sqrt = power_sqrt.sqrt
    sqrt_ = power_sqrt.sqrt_
    rsqrt = power_sqrt.rsqrt
    rsqrt_ = power_sqrt.rsqrt_
    square = power_sqrt.square
    square_ = power_sqrt.square_

    sin = trigonometry.sin
    sin_ = trigonometry.sin_
    cos = trigonometry.cos
    cos_ = trigonometry.cos_
    tan = trigonometry.tan
    tan_ = trigonometry.tan_
    asin = arcsin = trigonometry.asin
    asin_ = arcsin_ = trigonometry.asin_
    acos = arccos = trigonometry.acos
    acos_ = arccos_ = trigonometry.acos_
    atan = arctan = trigonometry.atan
    atan_ = arctan_ = trigonometry.atan_
    sinh = trigonometry.sinh
    sinh_ = trigonometry.sinh_
    cosh = trigonometry.cosh
    cosh_ = trigonometry.cosh_
    tanh = trigonometry.tanh
    tanh_ = trigonometry.tanh_
    asinh = arcsinh = trigonometry.asinh
    asinh_ = arcsinh_ = trigonometry.asinh_
    acosh = arccosh = trigonometry.acosh
    acosh_ = arccosh_ = trigonometry.acosh_
    atanh = arctanh = trigonometry.atanh
    atanh_ = arctanh_ = trigonometry.atanh_

    abs = absolute = __abs__ = rounding_abs_sign.abs
    abs_ = absolute_ = rounding_abs_sign.abs_
    sign = rounding_abs_sign.sign
    sign_ = rounding_abs_sign.sign_
    sgn = rounding_abs_sign.sgn
    sgn_ = rounding_abs_sign.sgn_
    floor = rounding_abs_sign.floor
    floor_ = rounding_abs_sign.floor_
    ceil = rounding_abs_sign.ceil
    ceil_ = rounding_abs_sign.ceil_
    round = rounding_abs_sign.round
    round_ = rounding_abs_sign.round_
    trunc = fix = rounding_abs_sign.trunc
    trunc_ = fix_ = rounding_abs_sign.trunc_
    frac = rounding_abs_sign.frac
    frac_ = rounding_abs_sign.frac_

    clamp = clip = where_clamp.clamp
    clamp_ = clip_ = where_clamp.clamp_
    clamp_min = where_clamp.clamp_min
    clamp_min_ = where_clamp.clamp_min_
    clamp_max = where_clamp.clamp_max
    clamp_max_ = where_clamp.clamp_max_
    maximum = maximum_minimum.maximum
    minimum = maximum_minimum.minimum
    fmax = maximum_minimum.fmax
    fmin = maximum_minimum.fmin

    masked_fill = masked_fill_nan_to_num.masked_fill
    masked_fill_ = masked_fill_nan_to_num.masked_fill_
    nan_to_num = masked_fill_nan_to_num.nan_to_num
    nan_to_num_ = masked_fill_nan_to_num.nan_to_num_

    atan2 = arctan2 = atan2_hypot.atan2
    atan2_ = arctan2_ = atan2_hypot.atan2_
    hypot = atan2_hypot.hypot
    hypot_ = atan2_hypot.hypot_
    copysign = atan2_hypot.copysign
    copysign_ = atan2_hypot.copysign_
    deg2rad = atan2_hypot.deg2rad
    deg2rad_ = atan2_hypot.deg2rad_
    rad2deg = atan2_hypot.rad2deg
    rad2deg_ = atan2_hypot.rad2deg_

    erf = erf_gamma.erf
    erf_ = erf_gamma.erf_
    erfc = erf_gamma.erfc
    erfc_ = erf_gamma.erfc_
    erfinv = erf_gamma.erfinv
    erfinv_ = erf_gamma.erfinv_
    lgamma = erf_gamma.lgamma
    lgamma_ = erf_gamma.lgamma_
    digamma = erf_gamma.digamma
    digamma_ = erf_gamma.digamma_

    i0 = method("tapegrad.operators.pointwise.special.bessel", "i0")
    i0_ = method("tapegrad.operators.pointwise.special.bessel", "i0_")
    igamma = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igamma")
    igamma_ = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igamma_")
    igammac = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igammac")
    igammac_ = method("tapegrad.operators.pointwise.special.incomplete_gamma", "igammac_")
    mvlgamma = method("tapegrad.operators.pointwise.special.incomplete_gamma", "mvlgamma")
    mvlgamma_ = method("tapegrad.operators.pointwise.special.incomplete_gamma", "mvlgamma_")
    frexp = float_parts.frexp
    ldexp = float_parts.ldexp
    ldexp_ = float_parts.ldexp_
    nextafter = float_parts.nextafter
    nextafter_ = float_parts.nextafter_
    gcd = float_parts.gcd
    gcd_ = float_parts.gcd_
    lcm = float_parts.lcm
    lcm_ = float_parts.lcm_
    heaviside = float_parts.heaviside
    heaviside_ = float_parts.heaviside_
    signbit = float_parts.signbit
    isposinf = float_parts.isposinf
    isneginf = float_parts.isneginf
    isreal = float_parts.isreal
    sinc = trigonometry.sinc
    sinc_ = trigonometry.sinc_
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
