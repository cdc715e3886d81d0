"""`torch._library`: what `torch.library` is made of in PyTorch."""

from tapegrad.compat.insides import with_submodules as _with_submodules
from tapegrad.library.triton import triton_op, wrap_triton

__all__ = ["capture_triton", "triton_op", "wrap_triton"]

capture_triton = wrap_triton

__getattr__ = _with_submodules(__name__, "custom_ops infer_schema")
