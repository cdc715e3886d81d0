"""`torch._C._autograd`: kinds of devices, and what the profiler can record."""

import enum

from tapegrad.autograd.engine import BACKWARD_PASS as _BACKWARD_PASS
from tapegrad.autograd.raw_saved import SavedTensor
from tapegrad.autograd.saved_tensor_hooks import FORBIDDEN as _FORBIDDEN
from tapegrad.core.missing import refuses as _refuses
from tapegrad.profiler import ProfilerActivity, supported_activities

__all__ = ["DeviceType", "ProfilerActivity", "ProfilerState", "SavedTensor", "kineto_available"]


class DeviceType(enum.IntEnum):
    """Kinds of devices, by PyTorch's numbers."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    MAIA = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18
    MTIA = 19
    PrivateUse1 = 20

    __str__ = enum.Enum.__str__


class ProfilerState(enum.IntEnum):
    """How PyTorch's profiler records, by its numbers."""

    Disabled = 0
    CPU = 1
    CUDA = 2
    NVTX = 3
    ITT = 4
    PRIVATEUSE1 = 5
    KINETO = 6
    KINETO_GPU_FALLBACK = 7
    KINETO_PRIVATEUSE1_FALLBACK = 8
    KINETO_PRIVATEUSE1 = 9

    __str__ = enum.Enum.__str__


def kineto_available() -> bool:
    """Whether `torch.profiler` records: always.

    >>> torch._C._autograd.kineto_available()
    True
    """
    return True


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether `saved_tensors_hooks` may be entered.

    >>> with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     torch._C._autograd._saved_tensors_hooks_is_enabled()
    False
    """
    return _FORBIDDEN.get() is None


def _get_current_graph_task_keep_graph() -> bool:
    """Whether the backward pass that runs keeps its graph; True where none does."""
    backward = _BACKWARD_PASS.get()
    return backward is None or backward.retain_graph


_supported_activities = supported_activities

__getattr__ = _refuses(__name__)
