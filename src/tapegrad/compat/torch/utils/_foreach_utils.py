"""Tensors in groups of one device and dtype, for optimisers that work on lists of them."""

from collections.abc import Sequence

from tapegrad.core.device import device as Device
from tapegrad.core.missing import refuses as _refuses
from tapegrad.optim.implementation import _group_tensors_by_device_and_dtype  # noqa: F401
from tapegrad.tensors.tensor import Tensor

Lists = list[list[Tensor | None]]
Indices = list[int]
_foreach_supported_types = [Tensor]
TensorListList = list[list[Tensor | None]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The kinds of devices where operators on lists are faster than on one tensor after another."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The kinds of devices for which PyTorch has optimisers in one kernel."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _device_has_foreach_support(device: Device) -> bool:
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]


def _has_foreach_support(tensors: Sequence[Tensor | None], device: Device) -> bool:
    """Whether operators on lists take these tensors."""
    return _device_has_foreach_support(device) and all(
        x is None or type(x) in _foreach_supported_types for x in tensors
    )


__getattr__ = _refuses(__name__)
