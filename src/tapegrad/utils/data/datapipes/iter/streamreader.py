"""`StreamReaderIterDataPipe`, under PyTorch's path."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.iter.files import StreamReaderIterDataPipe

__all__ = ["StreamReaderIterDataPipe"]

__getattr__ = _refuses(__name__)
