"""Dropout: in training, elements or channels are zeroed at random and the rest scaled up."""

from tapegrad.nn import functional as F
from tapegrad.nn.functional.dropout import check_probability
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import ClassOptions
from tapegrad.tensors.tensor import Tensor

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(ClassOptions, Module):
    __constants__ = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return self._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd, function=F.dropout):
    """Zero each element with probability `p` and scale the rest by `1/(1-p)`; in training only.

    Source: Hinton et al., Improving neural networks by preventing co-adaptation, 2012.

    >>> torch.nn.Dropout(p=1.0)(torch.ones(3))
    tensor([0., 0., 0.])
    """


class Dropout1d(_DropoutNd, function=F.dropout1d):
    """Zero each channel of (N, C, L) or (C, L) with probability `p`; in training only.

    Source: Tompson et al., Efficient object localization using convolutional networks, 2015.

    >>> torch.nn.Dropout1d(p=1.0)(torch.ones(1, 2, 2))
    tensor([[[0., 0.],
             [0., 0.]]])
    """


class Dropout2d(_DropoutNd, function=F.dropout2d):
    """Zero each channel of images (N, C, H, W) with probability `p`; in training only.

    >>> torch.nn.Dropout2d()(torch.ones(1, 2, 3, 4)).shape
    torch.Size([1, 2, 3, 4])
    """


class Dropout3d(_DropoutNd, function=F.dropout3d):
    """Zero each channel of volumes (N, C, D, H, W) with probability `p`; in training only.

    >>> torch.nn.Dropout3d()(torch.ones(1, 2, 3, 4, 5)).shape
    torch.Size([1, 2, 3, 4, 5])
    """


class AlphaDropout(_DropoutNd):
    """Set each element with probability `p` to SELU's lowest value; mean and variance stay.

    Source: Klambauer et al., Self-normalizing neural networks, 2017.

    >>> torch.nn.AlphaDropout()(torch.zeros(3)).shape
    torch.Size([3])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels of (N, C, ...).

    >>> torch.nn.FeatureAlphaDropout()(torch.zeros(1, 2, 3)).shape
    torch.Size([1, 2, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
