"""Initialisation: fill a tensor in place, the same numbers as PyTorch for the same seed.

Every function runs without recording and returns the tensor it was given.
"""

from tapegrad.nn.init.fan import (
    _calculate_correct_fan,
    _calculate_fan_in_and_fan_out,
    calculate_gain,
    kaiming_normal_,
    kaiming_uniform_,
    xavier_normal_,
    xavier_uniform_,
)
from tapegrad.nn.init.matrix import dirac_, eye_, orthogonal_, sparse_
from tapegrad.nn.init.old import (
    constant,
    dirac,
    eye,
    kaiming_normal,
    kaiming_uniform,
    normal,
    orthogonal,
    sparse,
    uniform,
    xavier_normal,
    xavier_uniform,
)
from tapegrad.nn.init.plain import constant_, normal_, ones_, trunc_normal_, uniform_, zeros_

__all__ = [
    "_calculate_correct_fan",
    "_calculate_fan_in_and_fan_out",
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]


def __getattr__(name: str):
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
