"""Invertible maps with a known change of volume; what `TransformedDistribution` is made of.

Maps of single numbers stand in `elementwise_transforms`, those of vectors and matrices in
`simplex_cholesky_transforms`, those made of others in `composed_transforms`; here are the names of
all.
"""

from typing import Any  # noqa: F401, as `typing.get_type_hints` looks for it here

from tapegrad.distributions.composed_transforms import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    identity_transform,
)
from tapegrad.distributions.elementwise_transforms import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    _clipped_sigmoid,  # noqa: F401
)
from tapegrad.distributions.simplex_cholesky_transforms import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from tapegrad.distributions.transform import Transform, _InverseTransform

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

for _each in (*map(globals().get, __all__[:-1]), _InverseTransform):
    _each.__module__ = __name__  # where PyTorch has them, and where a pickle looks for them
del _each
