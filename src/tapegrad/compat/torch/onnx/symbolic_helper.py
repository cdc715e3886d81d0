"""`torch.onnx.symbolic_helper`: decorators of rules for an export that does not come."""

from collections.abc import Callable

from tapegrad.compat.paths import ONNX as _ADVICE
from tapegrad.compat.refusal import refusing as _refusing


def parse_args(*arg_descriptors: str) -> Callable[[Callable], Callable]:
    """Say of which kinds the arguments of a rule are; the rule is given back."""
    return lambda function: function


quantized_args = parse_args

__all__ = ["parse_args", "quantized_args"]

__getattr__ = _refusing(
    __name__,
    _ADVICE,
    functions=(
        "_get_const _get_tensor_dim_size _get_tensor_rank _get_tensor_sizes _is_none "
        "_is_packed_list _maybe_get_const _squeeze_helper _unimplemented _unsqueeze_helper "
        "args_have_same_dtype check_training_mode dequantize_helper is_complex_value "
        "quantize_helper requantize_bias_helper"
    ),
    classes="cast_pytorch_to_onnx pytorch_name_to_type scalar_name_to_pytorch",
)
