"""The module `torch.storage`."""

import pytest

import tapegrad as torch


def test_its_names_are_those_of_torch():
    assert torch.storage.UntypedStorage is torch.UntypedStorage
    assert torch.storage.TypedStorage is torch.TypedStorage
    assert torch.storage.__all__ == ["TypedStorage", "UntypedStorage"]
    names = torch.storage._dtype_to_storage_type_map()
    assert names[torch.float32] == torch.Storage.__name__ == "FloatStorage"
    assert torch.storage._storage_type_to_dtype_map()["LongStorage"] is torch.int64
    with pytest.raises(AttributeError, match=r"module 'torch.storage' has no attribute 'nothing'"):
        torch.storage.nothing  # noqa: B018
