"""Several GPUs, on a machine without one."""

import pytest

import tapegrad as torch
from tapegrad import nn


def test_data_parallel_is_the_module_where_there_is_no_gpu():
    layer = nn.Linear(2, 1)
    assert nn.parallel.DataParallel is nn.DataParallel
    x = torch.ones(3, 2)
    assert torch.equal(nn.DataParallel(layer, device_ids=[0])(x), layer(x))
    with pytest.raises(RuntimeError, match="device type could not be determined"):
        nn.parallel.data_parallel(layer, x)
    with pytest.raises(AttributeError, match="no attribute 'bouquet'"):
        nn.parallel.bouquet  # noqa: B018
