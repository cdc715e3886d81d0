"""Steps of `steps.py`, under PyTorch's path."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.map.steps import SequenceWrapperMapDataPipe

__all__ = ["SequenceWrapperMapDataPipe"]

__getattr__ = _refuses(__name__)
