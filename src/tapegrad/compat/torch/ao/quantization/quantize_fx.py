"""`torch.ao.quantization.quantize_fx` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.ao.quantization import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    functions="convert_fx convert_to_reference_fx fuse_fx prepare_fx prepare_qat_fx",
)
