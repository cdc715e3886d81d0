"""`torch.onnx.utils` by name."""

from tapegrad.compat.refusal import refusing as _refusing
from tapegrad.compat.torch.onnx import ADVICE as _ADVICE
from tapegrad.compat.torch.onnx import register_custom_op_symbolic, unregister_custom_op_symbolic

__all__ = ["register_custom_op_symbolic", "unregister_custom_op_symbolic"]

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    functions=(
        "export exporter_context model_signature select_model_mode_for_export setup_onnx_logging "
        "unconvertible_ops unpack_quantized_tensor"
    ),
)
