"""`torch.ops.profiler`: blocks of a profile that are opened by one call and closed by another.

So a graph that `torch.fx` has recorded can have them.
"""

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.core.annotations import Any
from tapegrad.library.libraries import Library
from tapegrad.profiler.block import record_function

_LIBRARY = Library("profiler", "DEF")
_BYTES = 344  # of the handle, as many as PyTorch's has


def _enter(name: str, args: str | None = None) -> Any:
    """Open a block; what is returned closes it."""
    block = record_function(name, args)
    block.__enter__()
    handle = torch.empty(_BYTES, dtype=torch.uint8)
    handle._block = block
    return handle


def _exit(handle: Any) -> None:
    """Close the block of a handle."""
    block = getattr(handle, "_block", None)
    if block is None:
        raise errors.runtime_error(
            "Expected temporary cpp type wrapper", "Pass what _record_function_enter returned."
        )
    block.__exit__(None, None, None)


for _schema, _kernel in (
    ("_record_function_enter(str name, str? args=None) -> Tensor", _enter),
    ("_record_function_exit(Tensor handle) -> ()", _exit),
):
    _LIBRARY.impl(_LIBRARY.define(_schema), _kernel, "CompositeExplicitAutograd")
