"""`filter`: the samples that meet a condition."""

from collections.abc import Callable, Iterator
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe
from tapegrad.utils.data.datapipes.utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples for which `filter_fn`, of the sample or its columns `input_col`, is True."""

    def __init__(self, datapipe: IterDataPipe, filter_fn: Callable, input_col: Any = None) -> None:
        _check_unpickable_fn(filter_fn)
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col
        validate_input_col(filter_fn, input_col)

    def __iter__(self) -> Iterator[Any]:
        for x in self.datapipe:
            if self._keeps(x):
                yield x

    def _keeps(self, x: Any) -> bool:
        if self.input_col is None:
            found = self.filter_fn(x)
        elif isinstance(self.input_col, (list, tuple)):
            found = self.filter_fn(*[x[c] for c in self.input_col])
        else:
            found = self.filter_fn(x[self.input_col])
        if not isinstance(found, bool):
            raise ValueError(
                "Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(found)
            )
        return found


__getattr__ = _refuses(__name__)
