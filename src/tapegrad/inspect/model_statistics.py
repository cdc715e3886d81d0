"""The result of `summary`: the table of layers and its totals."""

from collections.abc import Iterator
from typing import Any

from tapegrad.inspect.layer_info import ColumnSettings, LayerInfo, RowSettings, Units, Verbosity

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


_FACTORS = {Units.TERABYTES: 1e12, Units.GIGABYTES: 1e9, Units.MEGABYTES: 1e6, Units.NONE: 1}


class ModelStatistics:
    """The layers of a model and their totals; `str` of it is the table.

    A layer counts once, however often it is called; one that belongs to several layers may count
    in each of those, as in torchinfo.

    Attributes:
        summary_list: a `LayerInfo` for each row.
        input_size: the sizes of the inputs, nested as they are; empty where nothing was run.
        total_input: bytes of the memory of the inputs.
        total_params, trainable_params: numbers of parameters.
        total_param_bytes: bytes of the parameters of the innermost layers.
        total_output_bytes: bytes of the outputs of layers with parameters, and of the gradients
            that come back to them.
        formatting: how the table is written.
        total_mult_adds: multiplications followed by an addition, of the innermost layers.

    >>> result = torch.inspect.summary(torch.nn.Linear(3, 4), (2, 3), verbose=0)
    >>> result.total_params, result.total_mult_adds, result.total_output_bytes
    (16, 32, 64)
    """

    def __init__(
        self, summary_list: list[LayerInfo], input_size: Any, total_input: int, **look: Any
    ) -> None:
        self.summary_list, self.input_size = summary_list, input_size
        self.total_input = total_input
        self.total_params = self.trainable_params = self.total_param_bytes = 0
        self.total_output_bytes = self.total_mult_adds = 0
        all_left = _left_over(summary_list, "num_params")
        trainable_left = _left_over(summary_list, "trainable_params")
        for row in summary_list:
            if row.is_leaf_layer:
                self.total_mult_adds += row.macs
                if row.num_params > 0:
                    self.total_output_bytes += 2 * row.output_bytes
            if row.is_recursive:
                continue
            if row.is_leaf_layer:
                self.total_param_bytes += row.param_bytes
            # Less than nothing is left over where layers share parameters.
            self.total_params += max(all_left[id(row)], 0)
            self.trainable_params += max(trainable_left[id(row)], 0)
        self.formatting = LayerTable(
            summary_list, lambda row: all_left[id(row)], self.total_params, **look
        )

    def __repr__(self) -> str:
        divider = "=" * self.formatting.total_width()
        lines = [
            divider,
            self.formatting.title(),
            divider,
            *self.formatting.lines(),
            divider,
            f"Total params{self.format_output_num(self.total_params, Units.NONE)}",
            f"Trainable params{self.format_output_num(self.trainable_params, Units.NONE)}",
            "Non-trainable params"
            + self.format_output_num(self.total_params - self.trainable_params, Units.NONE),
        ]
        if self.input_size:
            parts = (self.total_input, self.total_output_bytes, self.total_param_bytes)
            inputs, outputs, weights, total = map(self.to_megabytes, (*parts, sum(parts)))
            lines += [
                f"Total mult-adds{self.format_output_num(self.total_mult_adds, Units.AUTO)}",
                divider,
                f"Input size (MB): {inputs:0.2f}",
                f"Forward/backward pass size (MB): {outputs:0.2f}",
                f"Params size (MB): {weights:0.2f}",
                f"Estimated Total Size (MB): {total:0.2f}",
            ]
        return "\n".join([*lines, divider])

    def _repr_html_(self) -> str:
        """What a notebook shows: the table."""
        from tapegrad.inspect.notebook import page_text

        return page_text(repr(self))

    @staticmethod
    def float_to_megabytes(num: float) -> float:
        """Megabytes (of a million bytes) of `num` numbers of four bytes."""
        return num * 4 / 1e6

    @staticmethod
    def to_megabytes(num: float) -> float:
        """Megabytes (of a million bytes) that `num` bytes are."""
        return num / 1e6

    @staticmethod
    def to_readable(num: float, units: Units = Units.AUTO) -> tuple[Units, float]:
        """Units for a number, and the number in these units.

        >>> from tapegrad.inspect.model_statistics import ModelStatistics
        >>> ModelStatistics.to_readable(2_500_000)
        (<Units.MEGABYTES: 'M'>, 2.5)
        """
        if units == Units.AUTO:
            units = Units.MEGABYTES
            for larger in (Units.GIGABYTES, Units.TERABYTES):
                if num >= _FACTORS[larger]:
                    units = larger
        return units, num / _FACTORS[units]

    @staticmethod
    def format_output_num(num: float, units: Units) -> str:
        """The end of a line of totals.

        >>> from tapegrad.inspect.model_statistics import ModelStatistics
        >>> ModelStatistics.format_output_num(12345, "")
        ': 12,345'
        """
        units, number = ModelStatistics.to_readable(num, units)
        text = f"{int(number):,}" if number.is_integer() else f"{number:,.2f}"
        # f"{Units.MEGABYTES}" is "Units.MEGABYTES", which is what torchinfo prints.
        return f": {text}" if units == Units.NONE else f" ({units}): {text}"


def _left_over(rows, count):
    """By the id of a row, how many parameters it has that are in no row below it."""
    left: dict[int, int] = {}
    for row in reversed(rows):  # the rows below come after it
        if id(row) not in left:
            own = getattr(row, count)
            if not row.is_leaf_layer:
                own -= sum(left[id(below)] for below in row.children if not below.is_recursive)
            left[id(row)] = own
    return left
