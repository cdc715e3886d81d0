"""`IterableWrapper`: anything that can be iterated as a pipe."""

import copy
from collections.abc import Iterator
from typing import Any

from tapegrad.core.errors import warn
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe):
    """The samples of `iterable`, copied for each pass unless `deepcopy` is False."""

    def __init__(self, iterable: Any, deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:
                warn(
                    "The input iterable can not be deepcopied, please be aware of in-place "
                    "modification would affect source data."
                )
        yield from source

    def __len__(self) -> int:
        return len(self.iterable)


__getattr__ = _refuses(__name__)
