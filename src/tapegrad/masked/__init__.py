"""torch.masked: reductions and normalisations of the elements where a mask is true.

Masked out elements become what leaves the operation unchanged: 0 for a sum, 1 for a product, -inf
for a maximum. A mask broadcasts to the input; without one every element counts.
"""

from tapegrad.masked.reduction import (
    amax,
    amin,
    argmax,
    argmin,
    cumprod,
    cumsum,
    mean,
    median,
    prod,
    sum,
)
from tapegrad.masked.scale import (
    log_softmax,
    logaddexp,
    logsumexp,
    norm,
    normalize,
    softmax,
    softmin,
    std,
    var,
)

__all__ = [
    "amax",
    "amin",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logaddexp",
    "logsumexp",
    "mean",
    "median",
    "norm",
    "normalize",
    "prod",
    "softmax",
    "softmin",
    "std",
    "sum",
    "var",
]


def __getattr__(name: str):
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
