"""`torch._custom_ops`: an older form of `torch.library`, of which programs ask the context."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.library.fake import get_ctx

__all__ = ["get_ctx"]

__getattr__ = _refuses(__name__)
