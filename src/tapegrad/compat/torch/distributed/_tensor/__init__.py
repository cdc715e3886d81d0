"""The old name of `torch.distributed.tensor`."""

from tapegrad.compat.torch.distributed.tensor import *
from tapegrad.compat.torch.distributed.tensor import DeviceMesh, init_device_mesh
from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
