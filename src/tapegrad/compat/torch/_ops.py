"""`torch._ops`: the classes of `torch.ops`."""

from tapegrad import ops
from tapegrad.core.missing import refuses as _refuses
from tapegrad.library.namespace import _OpNamespace
from tapegrad.library.overload import OpOverload, OpOverloadPacket

__all__ = ["OpOverload", "OpOverloadPacket", "_OpNamespace", "ops"]

__getattr__ = _refuses(__name__)
