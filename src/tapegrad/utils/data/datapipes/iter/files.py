"""`list_files`, `open_files`, `read_from_stream`, `routed_decode`: samples from files."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes._paths import hand_out
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe
from tapegrad.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe
from tapegrad.utils.data.datapipes.utils.common import (
    get_file_binaries_from_pathnames,
    get_file_pathnames_from_root,
    length_of,
    validate_pathname_binary_tuple,
)
from tapegrad.utils.data.datapipes.utils.decoder import Decoder, basichandlers, extension_extract_fn

__all__ = [
    "FileListerIterDataPipe", "FileOpenerIterDataPipe", "RoutedDecoderIterDataPipe",
    "StreamReaderIterDataPipe",
]  # fmt: skip


class _OfLength(IterDataPipe):
    length: int

    def __len__(self) -> int:
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


@functional_datapipe("list_files")
class FileListerIterDataPipe(_OfLength):
    """Paths of the files of folders whose names are like `masks`."""

    def __init__(
        self,
        root: str | Sequence[str] | IterDataPipe = ".",
        masks: str | list[str] = "",
        *,
        recursive: bool = False,
        abspath: bool = False,
        non_deterministic: bool = False,
        length: int = -1,
    ) -> None:
        folders: Any = [root] if isinstance(root, str) else root
        if not isinstance(folders, IterDataPipe):
            folders = IterableWrapperIterDataPipe(folders)
        self.datapipe = folders
        self.masks, self.recursive, self.abspath = masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        how = (self.masks, self.recursive, self.abspath, self.non_deterministic)
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(path, *how)


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(_OfLength):
    """Each path with its file, opened."""

    def __init__(
        self,
        datapipe: Iterable[str],
        mode: str = "r",
        encoding: str | None = None,
        length: int = -1,
    ) -> None:
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe):
    """Paths with what is in their files, `chunk` bytes at a time."""

    def __init__(self, datapipe: IterDataPipe, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for path, stream in self.datapipe:
            while data := stream.read(self.chunk):
                yield path, data
                if self.chunk is None:
                    break
            stream.close()


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe):
    """Paths with what is in their files, decoded by the first handler that can."""

    def __init__(
        self,
        datapipe: Iterable[tuple[str, Any]],
        *handlers: Callable,
        key_fn: Callable = extension_extract_fn,
    ) -> None:
        self.datapipe = datapipe
        self.decoder = Decoder(*(handlers or (basichandlers,)), key_fn=key_fn)

    def add_handler(self, *handler: Callable) -> None:
        """Add handlers, after the others."""
        self.decoder.add_handler(*handler)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for data in self.datapipe:
            validate_pathname_binary_tuple(data)
            path = data[0]
            yield path, self.decoder(data)[path]

    def __len__(self) -> int:
        return length_of(self, self.datapipe)


hand_out(
    __name__,
    filelister="FileListerIterDataPipe",
    fileopener="FileOpenerIterDataPipe",
    routeddecoder="RoutedDecoderIterDataPipe",
    streamreader="StreamReaderIterDataPipe",
)

__getattr__ = _refuses(__name__)
