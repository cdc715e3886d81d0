"""The dropout layers, where PyTorch has them."""

from tapegrad.nn import AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout
from tapegrad.nn.dropout import _Dropout as _DropoutNd

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
    "_DropoutNd",
]
