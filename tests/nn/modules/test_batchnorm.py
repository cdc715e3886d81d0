"""Batch normalisation as modules, and what all normalisations print, as PyTorch's."""

import copy

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def close(x, values):
    return torch.allclose(x.detach(), torch.tensor(values), atol=1e-4)


def test_running_statistics_move_towards_those_of_the_batch():
    layer = nn.BatchNorm1d(1)
    assert close(layer(torch.tensor([[1.0], [3.0]])), [[-1.0], [1.0]])
    assert close(layer.running_mean, [0.2])
    assert close(layer.running_var, [1.1])
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    layer(torch.tensor([[1.0], [3.0]]))
    assert layer.num_batches_tracked.item() == 1


def test_without_momentum_running_statistics_are_plain_averages():
    layer = nn.BatchNorm1d(1, momentum=None)
    layer(torch.tensor([[1.0], [3.0]]))
    layer(torch.tensor([[1.0], [7.0]]))
    assert layer.running_mean.tolist() == [3.0]
    assert layer.running_var.tolist() == [10.0]
    assert layer.eval()(torch.tensor([[4.0]])).item() == pytest.approx(0.316227614)


def test_without_running_statistics_the_batch_counts_in_evaluation_too():
    layer = nn.BatchNorm1d(1, track_running_stats=False).eval()
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert close(layer(torch.tensor([[1.0], [3.0]])), [[-1.0], [1.0]])


def test_a_batch_that_does_not_fit_leaves_the_statistics_as_they_were():
    layer = nn.BatchNorm1d(3)
    with raises(ValueError, "expected 2D or 3D input (got 1D input)"):
        layer(torch.ones(2))
    with raises(RuntimeError, "running_mean should contain 4 elements not 3"):
        layer(torch.ones(2, 4))
    message = "Expected more than 1 value per channel when training, got input size "
    with raises(ValueError, message + "torch.Size([1, 3])"):
        layer(torch.ones(1, 3))
    with raises(ValueError, "expected 4D input (got 2D input)"):
        nn.BatchNorm2d(3)(torch.ones(2, 3))
    assert layer.num_batches_tracked.item() == 0
    assert layer.running_mean.tolist() == [0.0, 0.0, 0.0]


def test_states_without_a_version_need_no_count():
    layer = nn.BatchNorm1d(2)
    state = layer.state_dict()
    del state["num_batches_tracked"]
    message = (
        "Error(s) in loading state_dict for BatchNorm1d:\n\t"
        'Missing key(s) in state_dict: "num_batches_tracked". '
    )
    with raises(RuntimeError, message):
        nn.BatchNorm1d(2).load_state_dict(state)
    nn.BatchNorm1d(2).load_state_dict(dict(state))


def test_layers_print_their_options():
    assert repr(nn.BatchNorm2d(3, bias=False)) == (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=False, track_running_stats=True)"
    )
    assert repr(nn.InstanceNorm2d(3)) == (
        "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, "
        "track_running_stats=False)"
    )
    assert repr(nn.LayerNorm(3)) == "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(nn.GroupNorm(2, 4)) == "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)"
    assert repr(nn.RMSNorm(4)) == "RMSNorm((4,), eps=None, elementwise_affine=True)"
    assert repr(nn.LocalResponseNorm(2)) == "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)"


def test_batch_norms_become_synchronised_ones():
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2))
    old = model[1]
    new = nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]
    assert type(new) is nn.SyncBatchNorm
    assert new.weight is old.weight and new.running_mean is old.running_mean
    x = torch.rand(3, 2, 4, 4)
    assert torch.equal(copy.deepcopy(old)(x), new(x))
    with raises(ValueError, "expected at least 2D input (got 1D input)"):
        new(torch.ones(2))
