"""The module that `import torchinfo` gives."""

from tapegrad.inspect.layer_info import ColumnSettings, Mode, RowSettings, Units, Verbosity
from tapegrad.inspect.model_statistics import ModelStatistics
from tapegrad.inspect.summary import summary

__all__ = [
    "ColumnSettings", "Mode", "ModelStatistics", "RowSettings", "Units", "Verbosity", "summary",
]  # fmt: skip
__version__ = "1.8.0"  # whose tables these are
