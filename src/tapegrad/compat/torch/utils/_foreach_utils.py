"""Tensors in groups of one device and dtype, for optimisers that work on lists of them."""

from collections.abc import Sequence
from typing import Any

from tapegrad.core import errors
from tapegrad.core.device import device as Device
from tapegrad.core.missing import refuses as _refuses
from tapegrad.tensors.tensor import Tensor

Lists = list[list[Tensor | None]]
Indices = list[int]
TensorListList = list[list[Tensor | None]]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The kinds of devices where operators on lists are faster than on one tensor after another."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The kinds of devices for which PyTorch has optimisers in one kernel."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Device, Any], tuple[Lists, Indices]]:
    """Columns of several lists, by device and dtype of the tensors in the first one.

    >>> from tapegrad.compat.torch.utils._foreach_utils import _group_tensors_by_device_and_dtype
    >>> x, y = torch.ones(1), torch.ones(2).double()
    >>> groups = _group_tensors_by_device_and_dtype([[x, y], [y, None]], with_indices=True)
    >>> groups[torch.device("cpu"), torch.float64]
    ([[tensor([1., 1.], dtype=torch.float64)], [None]], [1])
    """
    groups: dict[tuple[Device, Any], tuple[Lists, Indices]] = {}
    for i, column in enumerate(zip(*tensorlistlist, strict=True)):
        first = column[0]
        if first is None:
            raise errors.runtime_error(
                "Tensors of the first list of nested Tensor lists are supposed to be defined but "
                f"the {i}-th Tensor is not.",
                "None may stand in the other lists only.",
            )
        key = (first.device, first.dtype)
        lists, indices = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for each, x in zip(lists, column, strict=True):
            each.append(x)
        if with_indices:
            indices.append(i)
    return groups


def _device_has_foreach_support(device: Device) -> bool:
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]


def _has_foreach_support(tensors: Sequence[Tensor | None], device: Device) -> bool:
    """Whether operators on lists take these tensors."""
    return _device_has_foreach_support(device) and all(
        x is None or type(x).__name__ in ("Tensor", "Parameter") for x in tensors
    )


__getattr__ = _refuses(__name__)
