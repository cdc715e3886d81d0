"""`map`, `collate`: a function of each sample."""

from collections.abc import Callable, Iterator
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data._utils.collate import default_collate
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes.datapipe import IterDataPipe
from tapegrad.utils.data.datapipes.utils.common import (
    _check_unpickable_fn,
    length_of,
    validate_input_col,
)

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """`fn` of each sample, or of its columns `input_col`, put where those are or at `output_col`.

    With `output_col=-1` the result is put after all columns.
    """

    def __init__(
        self, datapipe: IterDataPipe, fn: Callable, input_col: Any = None, output_col: Any = None
    ) -> None:
        _check_unpickable_fn(fn)
        self.datapipe, self.fn, self.input_col = datapipe, fn, input_col
        if input_col is None and output_col is not None:
            raise value_error(
                "`output_col` must be None when `input_col` is None.", "Say what fn is given."
            )
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise value_error(
                    "`output_col` must be a single-element list or tuple", "fn has one result."
                )
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data: Any) -> Any:
        if self.input_col is None:
            return self.fn(data)
        several = isinstance(self.input_col, (list, tuple))
        columns = list(self.input_col) if several else [self.input_col]
        result = self.fn(*[data[c] for c in columns])
        is_tuple = isinstance(data, tuple)
        row: Any = list(data) if is_tuple else data
        if self.output_col is None:
            row[columns[0]] = result
            for place in sorted(columns[1:], reverse=True) if several else []:
                del row[place]
        elif self.output_col == -1:
            row.append(result)
        else:
            row[self.output_col] = result
        return tuple(row) if is_tuple else row

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        return length_of(self, self.datapipe)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """A tensor of each batch: `default_collate`, or `conversion`, of it."""

    def __init__(
        self,
        datapipe: IterDataPipe,
        conversion: Any = default_collate,
        collate_fn: Callable | None = None,
    ) -> None:
        function = collate_fn if collate_fn is not None else conversion
        if not callable(function):
            raise NotImplementedError(
                "tapegrad's Collator takes a function: conversions by column are of data frames"
            )
        super().__init__(datapipe, fn=function)


__getattr__ = _refuses(__name__)
