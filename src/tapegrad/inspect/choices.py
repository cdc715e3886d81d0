"""What a table of layers may show: the words that `summary` takes."""

from enum import Enum, IntEnum


class Mode(str, Enum):  # noqa: UP042  (StrEnum prints otherwise)
    """The mode the model is run in."""

    TRAIN = "train"
    EVAL = "eval"


class RowSettings(str, Enum):  # noqa: UP042
    """What is written in front of each row, and which rows there are."""

    DEPTH = "depth"
    VAR_NAMES = "var_names"
    ASCII_ONLY = "ascii_only"
    HIDE_RECURSIVE_LAYERS = "hide_recursive_layers"


class ColumnSettings(str, Enum):  # noqa: UP042
    """The columns after the name of the layer."""

    KERNEL_SIZE = "kernel_size"
    INPUT_SIZE = "input_size"
    OUTPUT_SIZE = "output_size"
    NUM_PARAMS = "num_params"
    PARAMS_PERCENT = "params_percent"
    MULT_ADDS = "mult_adds"
    TRAINABLE = "trainable"


class Units(str, Enum):  # noqa: UP042
    """The units of the totals."""

    AUTO = "auto"
    MEGABYTES = "M"
    GIGABYTES = "G"
    TERABYTES = "T"
    NONE = ""


class Verbosity(IntEnum):
    """How much is printed."""

    QUIET = 0
    DEFAULT = 1
    VERBOSE = 2
