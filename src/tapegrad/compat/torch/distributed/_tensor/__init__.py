"""The old name of `torch.distributed.tensor`."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.tensor import *
from tapegrad.distributed.tensor import DeviceMesh, init_device_mesh

__getattr__ = _refuses(__name__)
