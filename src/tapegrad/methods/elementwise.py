"""Methods of elementwise mathematics; arithmetic with its Python operators is in arithmetic.py."""

from tapegrad.later import method
from tapegrad.ops import (
    choice,
    exponential,
    extremum,
    filling,
    logistic,
    number,
    plane,
    power,
    rounding,
    special_function,
    trigonometry,
)


class ElementwiseMethods:
    """Functions of each element."""

    __slots__ = ()

    exp = exponential.exp
    exp_ = exponential.exp_
    exp2 = exponential.exp2
    exp2_ = exponential.exp2_
    expm1 = exponential.expm1
    expm1_ = exponential.expm1_
    log = exponential.log
    log_ = exponential.log_
    log2 = exponential.log2
    log2_ = exponential.log2_
    log10 = exponential.log10
    log10_ = exponential.log10_
    log1p = exponential.log1p
    log1p_ = exponential.log1p_

    sigmoid = logistic.sigmoid
    sigmoid_ = logistic.sigmoid_
    logit = logistic.logit
    logit_ = logistic.logit_
    logaddexp = logistic.logaddexp
    logaddexp2 = logistic.logaddexp2
    xlogy = logistic.xlogy
    xlogy_ = logistic.xlogy_

    sqrt = power.sqrt
    sqrt_ = power.sqrt_
    rsqrt = power.rsqrt
    rsqrt_ = power.rsqrt_
    square = power.square
    square_ = power.square_

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

    abs = absolute = __abs__ = rounding.abs
    abs_ = absolute_ = rounding.abs_
    sign = rounding.sign
    sign_ = rounding.sign_
    sgn = rounding.sgn
    sgn_ = rounding.sgn_
    floor = rounding.floor
    floor_ = rounding.floor_
    ceil = rounding.ceil
    ceil_ = rounding.ceil_
    round = rounding.round
    round_ = rounding.round_
    trunc = fix = rounding.trunc
    trunc_ = fix_ = rounding.trunc_
    frac = rounding.frac
    frac_ = rounding.frac_

    clamp = clip = choice.clamp
    clamp_ = clip_ = choice.clamp_
    clamp_min = choice.clamp_min
    clamp_min_ = choice.clamp_min_
    clamp_max = choice.clamp_max
    clamp_max_ = choice.clamp_max_
    maximum = extremum.maximum
    minimum = extremum.minimum
    fmax = extremum.fmax
    fmin = extremum.fmin

    masked_fill = filling.masked_fill
    masked_fill_ = filling.masked_fill_
    nan_to_num = filling.nan_to_num
    nan_to_num_ = filling.nan_to_num_

    atan2 = arctan2 = plane.atan2
    atan2_ = arctan2_ = plane.atan2_
    hypot = plane.hypot
    hypot_ = plane.hypot_
    copysign = plane.copysign
    copysign_ = plane.copysign_
    deg2rad = plane.deg2rad
    deg2rad_ = plane.deg2rad_
    rad2deg = plane.rad2deg
    rad2deg_ = plane.rad2deg_

    erf = special_function.erf
    erf_ = special_function.erf_
    erfc = special_function.erfc
    erfc_ = special_function.erfc_
    erfinv = special_function.erfinv
    erfinv_ = special_function.erfinv_
    lgamma = special_function.lgamma
    lgamma_ = special_function.lgamma_
    digamma = special_function.digamma
    digamma_ = special_function.digamma_

    i0 = method("tapegrad.ops.bessel", "i0")
    i0_ = method("tapegrad.ops.bessel", "i0_")
    igamma = method("tapegrad.ops.incomplete", "igamma")
    igamma_ = method("tapegrad.ops.incomplete", "igamma_")
    igammac = method("tapegrad.ops.incomplete", "igammac")
    igammac_ = method("tapegrad.ops.incomplete", "igammac_")
    mvlgamma = method("tapegrad.ops.incomplete", "mvlgamma")
    mvlgamma_ = method("tapegrad.ops.incomplete", "mvlgamma_")
    frexp = number.frexp
    ldexp = number.ldexp
    ldexp_ = number.ldexp_
    nextafter = number.nextafter
    nextafter_ = number.nextafter_
    gcd = number.gcd
    gcd_ = number.gcd_
    lcm = number.lcm
    lcm_ = number.lcm_
    heaviside = number.heaviside
    heaviside_ = number.heaviside_
    signbit = number.signbit
    isposinf = number.isposinf
    isneginf = number.isneginf
    isreal = number.isreal
    sinc = trigonometry.sinc
    sinc_ = trigonometry.sinc_
    polygamma_ = special_function.polygamma_

    def polygamma(self, n):
        """The derivative of order `n` of the digamma function.

        >>> torch.tensor([1.0]).polygamma(1)
        tensor([1.6449])
        """
        return special_function.polygamma(n, self)

    def where(self, condition, other):
        """The tensor's elements where `condition` is true, else those of `other`.

        >>> torch.tensor([1.0, 2.0]).where(torch.tensor([True, False]), 0)
        tensor([1., 0.])
        """
        return choice.where(condition, self, other)
