"""`FileListerIterDataPipe`, under PyTorch's path."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.iter.files import FileListerIterDataPipe

__all__ = ["FileListerIterDataPipe"]

__getattr__ = _refuses(__name__)
