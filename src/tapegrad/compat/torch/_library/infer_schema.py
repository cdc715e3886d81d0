"""`torch._library.infer_schema`."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.library.infer import infer_schema

__all__ = ["infer_schema"]

__getattr__ = _refuses(__name__)
