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


def test_a_replica_has_tables_of_its_own_and_no_parameters():
    layers = nn.Sequential(nn.BatchNorm1d(2), nn.Tanh())
    replica = layers._replicate_for_data_parallel()
    assert type(replica) is nn.Sequential and replica._is_replica
    assert list(replica) == list(layers) and replica._modules is not layers._modules
    norm = layers[0]._replicate_for_data_parallel()
    assert not norm._parameters and not list(norm.parameters()) and norm.eps == layers[0].eps
    assert norm.running_mean is layers[0].running_mean
    norm.running_mean = torch.ones(2)
    assert torch.equal(layers[0].running_mean, torch.zeros(2))
