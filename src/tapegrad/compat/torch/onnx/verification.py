"""`torch.onnx.verification` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.onnx import ADVICE as _ADVICE

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    functions="find_mismatch verify verify_onnx_program",
    classes="VerificationInfo VerificationOptions",
)
