"""Hooks that send gradients in 8 bits, by name: they need quantized tensors, and GPUs."""

from tapegrad.core.annotations import Any
from tapegrad.core.errors import not_implemented

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]


def quantization_pertensor_hook(process_group: Any, bucket: Any) -> Any:
    """Raises: there are no quantized tensors."""
    raise not_implemented(
        "tapegrad has no quantized tensors to send gradients in",
        "Take powerSGD_hook, which sends less, or default_hooks.fp16_compress_hook.",
    )


quantization_perchannel_hook = quantization_pertensor_hook
