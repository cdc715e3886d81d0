"""`torch.ao.nn.qat`: layers for training with quantised weights, by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.ao.quantization import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__, _ADVICE, classes="Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"
)
