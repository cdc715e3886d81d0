"""What a checkpoint says of itself: which tensors it has, in which parts, and where those are.

The classes have PyTorch's names and fields: the manifest of a folder is a pickle of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from tapegrad.core.annotations import Any
from tapegrad.core.dtype import float32
from tapegrad.core.memory_format import channels_last, contiguous_format, preserve_format, strided
from tapegrad.core.size import Size, from_shape


@dataclass
class ChunkStorageMetadata:
    """A part of a tensor: where it begins in the whole, and its shape."""

    offsets: Size
    sizes: Size


class _MEM_FORMAT_ENCODING(Enum):
    """How a memory format is written."""

    TORCH_CONTIGUOUS_FORMAT = 0
    TORCH_CHANNELS_LAST = 1
    TORCH_PRESERVE_FORMAT = 2


_FORMATS = (contiguous_format, channels_last, preserve_format)


@dataclass
class TensorProperties:
    """What a tensor is besides its shape."""

    dtype: Any = field(default_factory=lambda: float32)
    layout: Any = field(default_factory=lambda: strided)
    requires_grad: bool = False
    memory_format: Any = field(default_factory=lambda: contiguous_format)
    pin_memory: bool = False

    def __getstate__(self) -> tuple:
        encoding = _MEM_FORMAT_ENCODING(_FORMATS.index(self.memory_format))
        return self.dtype, self.layout, self.requires_grad, encoding, self.pin_memory

    def __setstate__(self, state: tuple) -> None:
        self.dtype, self.layout, self.requires_grad, encoding, self.pin_memory = state
        self.memory_format = _FORMATS[encoding.value]


@dataclass
class TensorStorageMetadata:
    """A tensor of a checkpoint."""

    properties: TensorProperties
    size: Size
    chunks: list[ChunkStorageMetadata]


@dataclass
class BytesStorageMetadata:
    """An object of a checkpoint that is no tensor."""


@dataclass(frozen=True)
class MetadataIndex:
    """The name of a part: that of its tensor, and where it begins; None for what is no tensor."""

    fqn: str
    offset: Size | None = None
    index: int | None = field(hash=False, compare=False, default=None)

    def __init__(
        self, fqn: str, offset: Sequence[int] | None = None, index: int | None = None
    ) -> None:
        object.__setattr__(self, "fqn", fqn)
        object.__setattr__(self, "offset", None if offset is None else from_shape(tuple(offset)))
        object.__setattr__(self, "index", index)


@dataclass
class StorageMeta:
    """Which save a checkpoint is of."""

    checkpoint_id: Any = None
    save_id: str | None = None
    load_id: str | None = None
    modules: list[str] = field(default_factory=list)


@dataclass
class Metadata:
    """The manifest of a checkpoint."""

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    planner_data: Any = None  # the path of each name in the nested state
    storage_data: Any = None  # where each part lies, by its MetadataIndex
    storage_meta: StorageMeta | None = None
    version: str | None = None


@dataclass
class _StorageInfo:
    """Where a part lies: a file of the folder, and its bytes there."""

    relative_path: str
    offset: int
    length: int
    transform_descriptors: Sequence[str] | None = None

    def __getstate__(self) -> dict:
        return {k: v for k, v in self.__dict__.items() if v is not None}


_HOME = "torch.distributed.checkpoint"
for _each in (
    ChunkStorageMetadata,
    _MEM_FORMAT_ENCODING,
    TensorProperties,
    TensorStorageMetadata,
    BytesStorageMetadata,
    MetadataIndex,
    StorageMeta,
    Metadata,
):
    _each.__module__ = f"{_HOME}.metadata"
_StorageInfo.__module__ = f"{_HOME}.filesystem"
