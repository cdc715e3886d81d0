"""`torch.ao.quantization.fake_quantize` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.ao.quantization import _CLASSES, _FUNCTIONS, ADVICE

__getattr__ = _refusing(__name__, ADVICE, functions=_FUNCTIONS, classes=_CLASSES)
