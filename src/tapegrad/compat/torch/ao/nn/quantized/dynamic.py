"""`torch.ao.nn.quantized.dynamic` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.ao.quantization import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__, _ADVICE, classes="Conv1d Conv2d Conv3d GRU GRUCell LSTM LSTMCell Linear RNNCell"
)
