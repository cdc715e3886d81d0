"""The text of the table of layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapegrad.inspect.choices import ColumnSettings, RowSettings, Verbosity
from tapegrad.inspect.layer_info import LayerInfo

_TITLES = {
    ColumnSettings.KERNEL_SIZE: "Kernel Shape",
    ColumnSettings.INPUT_SIZE: "Input Shape",
    ColumnSettings.OUTPUT_SIZE: "Output Shape",
    ColumnSettings.NUM_PARAMS: "Param #",
    ColumnSettings.PARAMS_PERCENT: "Param %",
    ColumnSettings.MULT_ADDS: "Mult-Adds",
    ColumnSettings.TRAINABLE: "Trainable",
}
_INDENT = 5  # columns for each layer above
_NAME_WIDTH = 40  # of the first column, unless a name is longer


class LayerTable:
    """How the rows of `summary` are written.

    Args:
        rows: a `LayerInfo` for each row, in their order.
        leftover: how many parameters a layer has that no row below it has.
        total_params: what the shares of the parameters are shares of.
        columns, row_settings, width, depth, verbose: as for `summary`.
    """

    def __init__(
        self,
        rows: list[LayerInfo],
        leftover: Any,
        total_params: int,
        *,
        columns: tuple[ColumnSettings, ...],
        row_settings: set[RowSettings],
        width: int,
        depth: int,
        verbose: int,
    ) -> None:
        self._rows = rows
        self._leftover = leftover
        self._total_params = total_params
        self.col_names = columns
        self.row_settings = row_settings
        self.col_width = width
        self.max_depth = depth
        self.verbose = verbose
        longest = max((len(self._name(row)) + _INDENT * row.depth + 1 for row in rows), default=0)
        rounded = -(-longest // _INDENT) * _INDENT
        self.layer_name_width = rounded if longest >= _NAME_WIDTH else _NAME_WIDTH

    def total_width(self) -> int:
        """The number of columns of text."""
        return self.layer_name_width + self.col_width * len(self.col_names)

    def title(self) -> str:
        """The first line."""
        name = " (var_name)" if RowSettings.VAR_NAMES in self.row_settings else ""
        number = ":depth-idx" if RowSettings.DEPTH in self.row_settings else ""
        return self._line(f"Layer (type{name}{number})", _TITLES)

    def lines(self) -> Iterator[str]:
        """A line for each layer, and for each parameter if that is asked for."""
        hide = RowSettings.HIDE_RECURSIVE_LAYERS in self.row_settings
        for row in self._rows:
            if row.depth > self.max_depth or (hide and row.is_recursive):
                continue
            yield self._line(self._start(row.depth) + self._name(row), self._cells(row))
            if self.verbose == Verbosity.VERBOSE:
                for name, cells in row.inner_layers.items():
                    yield self._line(self._start(row.depth + 1) + name, cells)

    def _line(self, name, cells):
        texts = [f"{cells.get(column, ''):<{self.col_width}}" for column in self.col_names]
        return " ".join([f"{name:<{self.layer_name_width}}", *texts]).rstrip()

    def _name(self, row):
        text = row.class_name
        if RowSettings.VAR_NAMES in self.row_settings and row.var_name:
            text += f" ({row.var_name})"
        if RowSettings.DEPTH in self.row_settings and row.depth > 0:
            text += f": {row.depth}"
            if row.depth_index is not None:
                text += f"-{row.depth_index}"
        return text

    def _start(self, depth):
        """The branches that stand in front of a name."""
        if depth == 0:
            return ""
        ascii_only = RowSettings.ASCII_ONLY in self.row_settings
        bar, first, last = ("|    ", "+ ", "+ ") if ascii_only else ("│    ", "├─", "└─")
        return first if depth == 1 else bar * (depth - 1) + last

    def _cells(self, row):
        return {
            ColumnSettings.KERNEL_SIZE: _text(row.kernel_size),
            ColumnSettings.INPUT_SIZE: _text(row.input_size),
            ColumnSettings.OUTPUT_SIZE: _text(row.output_size),
            ColumnSettings.NUM_PARAMS: self._parameters(row),
            ColumnSettings.PARAMS_PERCENT: self._share(row),
            ColumnSettings.MULT_ADDS: self._mult_adds(row),
            ColumnSettings.TRAINABLE: row.trainable,
        }

    def _is_whole(self, row):
        """Whether the row stands for all that is in its layer: there is no row below it."""
        return row.is_leaf_layer or row.depth == self.max_depth

    def _parameters(self, row):
        if row.num_params == 0:
            return "--"
        if row.is_recursive:
            return "(recursive)"
        if self._is_whole(row):
            return f"{row.num_params:,}" if row.trainable_params else f"({row.num_params:,})"
        own = self._leftover(row)
        return f"{own:,}" if own > 0 else "--"

    def _share(self, row):
        if self._total_params == 0:
            return "     --"
        if row.is_recursive:
            return "(recursive)"
        count = row.num_params if self._is_whole(row) else self._leftover(row)
        return f"{count / self._total_params:>7.2%}" if count else "     --"

    def _mult_adds(self, row):
        if row.macs <= 0 or not self._is_whole(row):
            return "--"
        if row.is_leaf_layer:
            return f"{row.macs:,}"
        return f"{sum(below.macs for below in row.children if below.is_leaf_layer):,}"


def _text(value):
    return str(value) if value else "--"
