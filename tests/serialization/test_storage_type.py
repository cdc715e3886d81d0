"""What packages that write `.pt` files by themselves ask about storages."""

import pytest

import tapegrad as torch
from tapegrad.serialization import location_tag, normalize_storage_type


def test_a_class_of_storages_is_that_of_torch():
    for kind in (torch.FloatStorage, torch.LongStorage, torch.UntypedStorage):
        assert normalize_storage_type(kind) is kind
    assert normalize_storage_type(type(torch.ones(2).untyped_storage())) is torch.UntypedStorage
    with pytest.raises(AttributeError, match="has no attribute 'str'"):
        normalize_storage_type(str)


def test_a_storage_is_tagged_by_its_device():
    x = torch.ones(2, device="meta")
    found = [location_tag(t) for t in (torch.ones(2).untyped_storage(), x.untyped_storage(), x)]
    assert found == ["cpu", "meta", "meta"]
    with pytest.raises(AttributeError, match="'int' object has no attribute 'device'"):
        location_tag(3)
