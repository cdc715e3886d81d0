"""Instance normalisation as modules. The numbers and messages are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def close(x, values):
    return torch.allclose(x.detach(), torch.tensor(values), atol=1e-4)


def test_instances_are_normalised_each_for_itself():
    x = torch.tensor([[[1.0, 3.0]], [[0.0, 10.0]]])
    assert close(nn.InstanceNorm1d(1)(x), [[[-1.0, 1.0]], [[-1.0, 1.0]]])
    assert close(nn.InstanceNorm1d(1)(x[0]), [[-1.0, 1.0]])
    layer = nn.InstanceNorm1d(1, track_running_stats=True)
    layer(x[:1])
    assert close(layer.running_mean, [0.2])
    assert layer.num_batches_tracked.item() == 0
    with pytest.warns(UserWarning, match="does not match num_features"):
        nn.InstanceNorm1d(3)(torch.ones(2, 4, 5))
    message = "expected input's size at dim=1 to match num_features (3), but got: 4."
    with raises(ValueError, message):
        nn.InstanceNorm1d(3, affine=True)(torch.ones(2, 4, 5))
