"""Steps over samples with an index, each a method of all pipes."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.map.steps import BatcherMapDataPipe as Batcher
from tapegrad.utils.data.datapipes.map.steps import ConcaterMapDataPipe as Concater
from tapegrad.utils.data.datapipes.map.steps import MapperMapDataPipe as Mapper
from tapegrad.utils.data.datapipes.map.steps import SequenceWrapperMapDataPipe as SequenceWrapper
from tapegrad.utils.data.datapipes.map.steps import ShufflerIterDataPipe as Shuffler
from tapegrad.utils.data.datapipes.map.steps import ZipperMapDataPipe as Zipper

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]

__getattr__ = _refuses(__name__)
