"""`torch._library.custom_ops`."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.library.custom_op import CustomOpDef, custom_op

__all__ = ["CustomOpDef", "custom_op"]

__getattr__ = _refuses(__name__)
