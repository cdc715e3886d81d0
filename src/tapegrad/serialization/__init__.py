"""Saving: PyTorch's file format, read without running anything that a file holds.

`rebuild` makes tensors, `allowed` says what a file may name, `machine` reads pickles, `archive` is
the zip file, `legacy` the older format, `atomic` writes files whole or not at all; `reader` and
`writer` have `load` and `save`.
"""

from tapegrad.missing import missing as _missing
from tapegrad.serialization.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from tapegrad.serialization.reader import load
from tapegrad.serialization.unsafe import get_unsafe_globals_in_checkpoint
from tapegrad.serialization.writer import DEFAULT_PROTOCOL, save


def __getattr__(name: str):
    raise _missing(__name__, name)
