"""Layers without state, as functions; the operators below are in `tapegrad.operators`."""

from typing import Any

from tapegrad.core.missing import missing as _missing
from tapegrad.nn.functional.activation import *
from tapegrad.nn.functional.dropout import *
from tapegrad.nn.functional.embedding import *
from tapegrad.nn.functional.loss import *
from tapegrad.nn.functional.multi_head import *
from tapegrad.nn.functional.normalization import *
from tapegrad.nn.functional.pooling import *
from tapegrad.operators.linalg.cdist_pdist import pdist
from tapegrad.operators.linalg.grouped_mm import grouped_mm
from tapegrad.operators.linalg.linear import linear
from tapegrad.operators.nn.adaptive_pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from tapegrad.operators.nn.affine_grid import affine_grid
from tapegrad.operators.nn.attention import scaled_dot_product_attention
from tapegrad.operators.nn.avg_pool import avg_pool1d, avg_pool2d, avg_pool3d
from tapegrad.operators.nn.bilinear import bilinear
from tapegrad.operators.nn.conv import conv1d, conv2d, conv3d
from tapegrad.operators.nn.conv_transpose import (
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from tapegrad.operators.nn.cosine_similarity_distance import cosine_similarity, pairwise_distance
from tapegrad.operators.nn.grid_sample import grid_sample
from tapegrad.operators.nn.interpolate import interpolate
from tapegrad.operators.nn.lp_pool import lp_pool1d, lp_pool2d, lp_pool3d
from tapegrad.operators.nn.max_pool import (
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)
from tapegrad.operators.nn.max_unpool import max_unpool1d, max_unpool2d, max_unpool3d
from tapegrad.operators.nn.pad import pad
from tapegrad.operators.nn.pixel_shuffle import (
    channel_shuffle,
    native_channel_shuffle,
    pixel_shuffle,
    pixel_unshuffle,
)
from tapegrad.operators.nn.unfold_fold import fold, unfold
from tapegrad.operators.nn.upsample import upsample, upsample_bilinear, upsample_nearest
from tapegrad.operators.pointwise.elu import celu_, elu_, selu_
from tapegrad.operators.pointwise.gelu import gelu
from tapegrad.operators.pointwise.glu import glu
from tapegrad.operators.pointwise.relu_threshold_shrink import (
    hardshrink,
    hardtanh_,
    leaky_relu_,
    prelu,
    relu_,
    softshrink,
    threshold_,
)
from tapegrad.operators.pointwise.rrelu import rrelu_
from tapegrad.operators.pointwise.silu_mish_softplus import log_sigmoid as logsigmoid
from tapegrad.operators.pointwise.silu_mish_softplus import softplus

_OF_OVERRIDES = frozenset(
    "handle_torch_function has_torch_function has_torch_function_unary "
    "has_torch_function_variadic".split()
)


def __getattr__(name: str) -> Any:
    """What PyTorch's file imports, and programs import from it."""
    if name not in _OF_OVERRIDES:
        raise _missing(__name__, name)
    import tapegrad

    return getattr(tapegrad.overrides, name)
