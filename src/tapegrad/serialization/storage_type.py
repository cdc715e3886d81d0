"""What packages that write `.pt` files by themselves ask about storages."""

from typing import Any

import tapegrad


def normalize_storage_type(storage_type: type) -> Any:
    """The class of torch of that name, which files name for a storage.

    >>> torch.serialization.normalize_storage_type(torch.FloatStorage) is torch.FloatStorage
    True
    """
    return getattr(tapegrad, storage_type.__name__)


def location_tag(storage: Any) -> str:
    """The device that files name for a storage (or a tensor).

    >>> torch.serialization.location_tag(torch.ones(2).untyped_storage())
    'cpu'
    """
    return str(storage.device.type)
