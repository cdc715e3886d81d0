"""Batches in pinned memory, from where an accelerator copies them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tapegrad.tensors.tensor import Tensor


def pin_memory(data: Any, device: Any = None) -> Any:
    """`data` with its tensors pinned, inside containers, too; everything else as it is.

    Raises:
        RuntimeError: there are tensors in it, and no accelerator to pin memory for.

    >>> from tapegrad.utils.data._utils.pin_memory import pin_memory
    >>> pin_memory({"name": "a", "sizes": [1, 2]})
    {'name': 'a', 'sizes': [1, 2]}
    """
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        items = {key: pin_memory(value, device) for key, value in data.items()}
        return type(data)(items)  # type: ignore[call-arg]
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(pin_memory(item, device) for item in data))
    if isinstance(data, Sequence):
        found = [pin_memory(item, device) for item in data]
        kind: Any = type(data)
        return found if isinstance(data, (tuple, range)) else kind(found)
    return data
