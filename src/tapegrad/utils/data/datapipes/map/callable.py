"""Steps of `steps.py`, under PyTorch's path."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.map.steps import MapperMapDataPipe, default_fn

__all__ = ["MapperMapDataPipe", "default_fn"]

__getattr__ = _refuses(__name__)
