"""`torch.futures`: results that come later, and what is done when they have come."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.futures.future import Future, collect_all, wait_all

__all__ = ["Future", "collect_all", "wait_all"]

__getattr__ = _refuses(__name__)
