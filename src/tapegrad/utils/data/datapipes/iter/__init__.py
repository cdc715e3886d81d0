"""Steps over samples that come one after the other, each a method of all pipes.

callable.py        map, collate           grouping.py       batch, unbatch, groupby
combinatorics.py   shuffle; Sampler       selecting.py      filter
combining.py       concat, zip, mux       sharding.py       sharding_filter
children.py        fork, demux            files.py          list_files, open_files, ...
"""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.iter.callable import CollatorIterDataPipe as Collator
from tapegrad.utils.data.datapipes.iter.callable import MapperIterDataPipe as Mapper
from tapegrad.utils.data.datapipes.iter.children import DemultiplexerIterDataPipe as Demultiplexer
from tapegrad.utils.data.datapipes.iter.children import ForkerIterDataPipe as Forker
from tapegrad.utils.data.datapipes.iter.combinatorics import SamplerIterDataPipe as Sampler
from tapegrad.utils.data.datapipes.iter.combinatorics import ShufflerIterDataPipe as Shuffler
from tapegrad.utils.data.datapipes.iter.combining import ConcaterIterDataPipe as Concater
from tapegrad.utils.data.datapipes.iter.combining import MultiplexerIterDataPipe as Multiplexer
from tapegrad.utils.data.datapipes.iter.combining import ZipperIterDataPipe as Zipper
from tapegrad.utils.data.datapipes.iter.files import FileListerIterDataPipe as FileLister
from tapegrad.utils.data.datapipes.iter.files import FileOpenerIterDataPipe as FileOpener
from tapegrad.utils.data.datapipes.iter.files import RoutedDecoderIterDataPipe as RoutedDecoder
from tapegrad.utils.data.datapipes.iter.files import StreamReaderIterDataPipe as StreamReader
from tapegrad.utils.data.datapipes.iter.grouping import BatcherIterDataPipe as Batcher
from tapegrad.utils.data.datapipes.iter.grouping import GrouperIterDataPipe as Grouper
from tapegrad.utils.data.datapipes.iter.grouping import UnBatcherIterDataPipe as UnBatcher
from tapegrad.utils.data.datapipes.iter.selecting import FilterIterDataPipe as Filter
from tapegrad.utils.data.datapipes.iter.sharding import ShardingFilterIterDataPipe as ShardingFilter
from tapegrad.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe as IterableWrapper

__all__ = [
    "Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter",
    "Forker", "Grouper", "IterableWrapper", "Mapper", "Multiplexer", "RoutedDecoder", "Sampler",
    "ShardingFilter", "Shuffler", "StreamReader", "UnBatcher", "Zipper",
]  # fmt: skip

__getattr__ = _refuses(__name__)
