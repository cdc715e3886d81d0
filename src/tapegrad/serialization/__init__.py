"""Saving: PyTorch's file format, read without running anything that a file holds.

`machine` reads pickles; `names` lists what a file may name, `construct` and `rebuild` say what
calls of it do, `safe` holds what users add, `allowed` applies all this to one file. `archive` is
the zip file, `legacy` the older format; `atomic` writes files whole or not at all. `reader` has
`load`, `writer` has `save`.
"""

from tapegrad.core.missing import missing as _missing
from tapegrad.serialization.reader import load
from tapegrad.serialization.safe import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from tapegrad.serialization.unsafe import get_unsafe_globals_in_checkpoint
from tapegrad.serialization.writer import DEFAULT_PROTOCOL, save

__torch__ = "load save"


def __getattr__(name: str):
    raise _missing(__name__, name)
