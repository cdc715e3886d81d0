"""`torch._C`: what programs ask it for."""

from tapegrad.core.torch_function import (  # noqa: F401
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _EnableTorchFunction,
    _get_torch_function_state,
    _is_torch_function_all_disabled,
    _is_torch_function_enabled,
    _TorchFunctionState,
)
from tapegrad.core.torch_function import disabled as _disabled_torch_function_impl  # noqa: F401
from tapegrad.overrides import (  # noqa: F401
    _get_function_stack_at,
    _is_torch_function_mode_enabled,
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)
from tapegrad.overrides import has_torch_function as _has_torch_function  # noqa: F401
from tapegrad.overrides import has_torch_function_unary as _has_torch_function_unary  # noqa: F401
from tapegrad.overrides import has_torch_function_variadic as _has_torch_function_variadic  # noqa: F401
from tapegrad.tensors.tensor import TensorCore as TensorBase  # noqa: F401

_TensorMeta = type
