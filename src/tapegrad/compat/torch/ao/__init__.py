"""`torch.ao`: quantisation, by name."""

from tapegrad.compat.insides import with_submodules as _with_submodules

__getattr__ = _with_submodules(__name__, "nn ns pruning quantization")
