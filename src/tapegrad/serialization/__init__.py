"""Saving: PyTorch's file format, read without running anything that a file holds.

`machine` reads pickles; `names` lists what a file may name and what calls of it do, by `rebuild`;
`allowed` holds what users add and applies all this to one file. `archive` is the zip file; `reader`
has `load`, `writer` has `save`, `replacement` puts what it writes in the place of an old file.
`storage_type` says what files call storages, `options` what holds where nothing is said.
"""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.serialization.allowed import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from tapegrad.serialization.options import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
)
from tapegrad.serialization.reader import MAP_LOCATION, get_unsafe_globals_in_checkpoint, load
from tapegrad.serialization.skip_data import skip_data
from tapegrad.serialization.storage_type import location_tag, normalize_storage_type
from tapegrad.serialization.writer import DEFAULT_PROTOCOL, save

__torch__ = "load save"
__getattr__ = _refuses(__name__)
