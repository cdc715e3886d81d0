"""`concat`, `zip`, `mux`: several pipes as one. (`fork` and `demux` are in children.py.)"""

from collections.abc import Iterator
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe
from tapegrad.utils.data.datapipes.iter.children import (
    DemultiplexerIterDataPipe,
    ForkerIterDataPipe,
)

__all__ = [
    "ConcaterIterDataPipe", "DemultiplexerIterDataPipe", "ForkerIterDataPipe",
    "MultiplexerIterDataPipe", "ZipperIterDataPipe",
]  # fmt: skip


class _Several(IterDataPipe):
    datapipes: tuple[Any, ...]

    def _lengths(self) -> list[int]:
        if all(hasattr(type(each), "__len__") for each in self.datapipes):
            return [len(each) for each in self.datapipes]
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


@functional_datapipe("concat")
class ConcaterIterDataPipe(_Several):
    """All samples of the first pipe, then of the second, and so on."""

    def __init__(self, *datapipes: IterDataPipe) -> None:
        if not datapipes:
            raise value_error("Expected at least one DataPipe, but got nothing", "Give pipes.")
        if not all(isinstance(each, IterDataPipe) for each in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for each in self.datapipes:
            yield from each

    def __len__(self) -> int:
        return sum(self._lengths())


@functional_datapipe("zip")
class ZipperIterDataPipe(_Several):
    """Tuples of a sample of each pipe, until one has ended."""

    def __init__(self, *datapipes: IterDataPipe) -> None:
        if not all(isinstance(each, IterDataPipe) for each in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__()
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        yield from zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(self._lengths())


@functional_datapipe("mux")
class MultiplexerIterDataPipe(_Several):
    """A sample of each pipe in turn, until one has ended."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for samples in zip(*self.datapipes, strict=False):
            yield from samples

    def __len__(self) -> int:
        return min(self._lengths()) * len(self.datapipes)


__getattr__ = _refuses(__name__)
