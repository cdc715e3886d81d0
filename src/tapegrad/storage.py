"""`torch.storage`: the memory of tensors, as bytes and as elements."""

from typing import Any

from tapegrad.core.missing import refuses
from tapegrad.core.untyped_storage import UntypedStorage
from tapegrad.operators.creation.storage_warning import (
    _get_always_warn_typed_storage_removal,  # noqa: F401
    _reset_warn_typed_storage_removal,  # noqa: F401
    _set_always_warn_typed_storage_removal,  # noqa: F401
    _warn_typed_storage_removal,  # noqa: F401
)
from tapegrad.operators.creation.typed_storage import (
    TypedStorage,
    _dtype_to_storage_type_map,  # noqa: F401
    _LegacyStorage,  # noqa: F401
    _storage_type_to_dtype_map,  # noqa: F401
)


def _load_from_bytes(b: bytes) -> Any:
    """What a file of the bytes `b` holds: a storage in Python's pickles of PyTorch's tensors.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save(torch.tensor([1.0, 2.0]), file)
    >>> torch.storage._load_from_bytes(file.getvalue())
    tensor([1., 2.])
    """
    import io

    from tapegrad.serialization import load

    return load(io.BytesIO(b), weights_only=False)


__all__ = ["TypedStorage", "UntypedStorage"]

__getattr__ = refuses(__name__)
