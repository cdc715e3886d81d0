"""`torch.ao.nn`: layers of quantised models, by name."""

from tapegrad.compat.insides import with_submodules as _with_submodules

__getattr__ = _with_submodules(__name__, "intrinsic qat quantized")
