"""Steps of `steps.py`, under PyTorch's path."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.map.steps import ConcaterMapDataPipe, ZipperMapDataPipe

__all__ = ["ConcaterMapDataPipe", "ZipperMapDataPipe"]

__getattr__ = _refuses(__name__)
