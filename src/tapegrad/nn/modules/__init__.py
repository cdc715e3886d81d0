"""The modules under the names of the files in which PyTorch has them."""

from tapegrad import nn as _nn
from tapegrad.nn.modules import (
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy,
    linear,
    linear_cross_entropy_options,
    loss,
    module,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
    utils,
)

# what `torch.nn` has beside modules
_OTHERS = frozenset(
    "Buffer DataParallel Parameter UninitializedBuffer UninitializedParameter factory_kwargs "
    "functional init utils".split()
)
globals().update({name: getattr(_nn, name) for name in _nn.__all__ if name not in _OTHERS})

__all__ = [name for name in globals() if name[0] != "_"]
