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
from tapegrad.nn.collection import ParameterDict, ParameterList
from tapegrad.nn.container import ModuleDict
from tapegrad.nn.distance import CosineSimilarity, PairwiseDistance
from tapegrad.nn.dropout import Dropout
from tapegrad.nn.flatten import Flatten, Unflatten
from tapegrad.nn.likelihood_loss import (
    CTCLoss,
    GaussianNLLLoss,
    PoissonNLLLoss,
)
from tapegrad.nn.linear import Bilinear, Identity, Linear
from tapegrad.nn.linear_cross_entropy_options import LinearCrossEntropyOptions
from tapegrad.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
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
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Buffer, Parameter
from tapegrad.nn.sequential import ModuleList, Sequential
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

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "BCELoss",
    "BCEWithLogitsLoss",
    "Bilinear",
    "Buffer",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "GaussianNLLLoss",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "L1Loss",
    "LeakyReLU",
    "Linear",
    "LinearCrossEntropyOptions",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PoissonNLLLoss",
    "RReLU",
    "ReLU",
    "ReLU6",
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
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "functional",
    "init",
    "utils",
]


def __getattr__(name: str):
    from tapegrad.missing import missing

    raise missing(__name__, name)
