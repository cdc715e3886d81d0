"""Neural networks: modules, their parameters, layers and losses."""

from tapegrad.nn import functional, init, utils
from tapegrad.nn.activation import (
    CELU,
    ELU,
    GELU,
    SELU,
    Hardswish,
    LeakyReLU,
    Mish,
    PReLU,
    ReLU,
    RReLU,
    SiLU,
    Softplus,
)
from tapegrad.nn.adaptive_pool import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    FractionalMaxPool2d,
    FractionalMaxPool3d,
)
from tapegrad.nn.adaptive_softmax import AdaptiveLogSoftmaxWithLoss
from tapegrad.nn.average_pool import AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d
from tapegrad.nn.batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from tapegrad.nn.collection import ParameterDict, ParameterList
from tapegrad.nn.constant_padding import (
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from tapegrad.nn.container import Container, ModuleDict
from tapegrad.nn.convolution import Conv1d, Conv2d, Conv3d
from tapegrad.nn.cross_map_norm import CrossMapLRN2d
from tapegrad.nn.data_parallel import DataParallel
from tapegrad.nn.distance import CosineSimilarity, PairwiseDistance
from tapegrad.nn.dropout import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    FeatureAlphaDropout,
)
from tapegrad.nn.embedding import Embedding
from tapegrad.nn.embedding_bag import EmbeddingBag
from tapegrad.nn.factory import factory_kwargs
from tapegrad.nn.flatten import Flatten, Unflatten
from tapegrad.nn.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from tapegrad.nn.layer_norm import GroupNorm, LayerNorm, RMSNorm
from tapegrad.nn.lazy_convolution import (
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
)
from tapegrad.nn.lazy_linear import LazyLinear
from tapegrad.nn.lazy_norm import (
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    LazyInstanceNorm1d,
    LazyInstanceNorm2d,
    LazyInstanceNorm3d,
)
from tapegrad.nn.likelihood_loss import CTCLoss, GaussianNLLLoss, PoissonNLLLoss
from tapegrad.nn.linear import Bilinear, Identity, Linear
from tapegrad.nn.linear_cross_entropy_options import LinearCrossEntropyOptions
from tapegrad.nn.linear_loss import LinearCrossEntropyLoss
from tapegrad.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    NLLLoss2d,
    SmoothL1Loss,
)
from tapegrad.nn.margin_loss import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from tapegrad.nn.max_pool import (
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from tapegrad.nn.module import Module
from tapegrad.nn.multi_head_attention import MultiheadAttention
from tapegrad.nn.padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
)
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.nn.recurrent import GRU, LSTM, RNN
from tapegrad.nn.recurrent_base import RNNBase
from tapegrad.nn.recurrent_cell import GRUCell, LSTMCell, RNNCell, RNNCellBase
from tapegrad.nn.resampling import (
    ChannelShuffle,
    PixelShuffle,
    PixelUnshuffle,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from tapegrad.nn.response_norm import LocalResponseNorm
from tapegrad.nn.sequential import ModuleList, Sequential
from tapegrad.nn.sliding import Fold, Unfold
from tapegrad.nn.softmax import GLU, LogSoftmax, Softmax, Softmax2d, Softmin
from tapegrad.nn.squashing import (
    Hardshrink,
    Hardsigmoid,
    Hardtanh,
    LogSigmoid,
    ReLU6,
    Sigmoid,
    Softshrink,
    Softsign,
    Tanh,
    Tanhshrink,
    Threshold,
)
from tapegrad.nn.sync_batch_norm import SyncBatchNorm
from tapegrad.nn.transformer import Transformer
from tapegrad.nn.transformer_layer import TransformerDecoderLayer, TransformerEncoderLayer
from tapegrad.nn.transformer_stack import TransformerDecoder, TransformerEncoder
from tapegrad.nn.transposed_convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from tapegrad.nn.uninitialized import UninitializedBuffer, UninitializedParameter

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "CTCLoss",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Container",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "CrossMapLRN2d",
    "DataParallel",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTMCell",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "Linear",
    "LinearCrossEntropyLoss",
    "LinearCrossEntropyOptions",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "NLLLoss2d",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "SyncBatchNorm",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "UninitializedBuffer",
    "UninitializedParameter",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "factory_kwargs",
    "functional",
    "init",
    "utils",
]


def __getattr__(name: str):
    if name in ("attention", "common_types", "grad", "modules", "parallel"):
        from importlib import import_module

        return import_module(f"tapegrad.nn.{name}")
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
