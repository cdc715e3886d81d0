"""Averaged models and their batch normalisation. The values are PyTorch's."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.optim import swa_utils
from tests.messages import raises


def model():
    net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1))
    nn.init.constant_(net[0].weight, 1.0)
    return net


def move(net):
    with torch.no_grad():
        net[0].weight += 1
        net[1].running_mean += 1
        net[1].num_batches_tracked += 5


def walked(**options):
    net = model()
    mean = swa_utils.AveragedModel(net, **options)
    for _ in range(3):
        mean.update_parameters(net)
        move(net)
    return mean


EMA = swa_utils.get_ema_multi_avg_fn(0.5)
AVERAGES = [
    ({}, 2.0, 2.0, 10),
    ({"use_buffers": True}, 2.0, 1.0, 4),
    ({"multi_avg_fn": EMA}, 2.25, 2.0, 10),
    ({"multi_avg_fn": EMA, "use_buffers": True}, 2.25, 1.25, 6),
    ({"avg_fn": swa_utils.get_ema_avg_fn(0.5)}, 2.25, 2.0, 10),
]


@pytest.mark.parametrize(("options", "weight", "running_mean", "tracked"), AVERAGES)
def test_weights_are_averaged_and_buffers_as_asked(options, weight, running_mean, tracked):
    mean = walked(**options)
    assert mean.n_averaged.item() == 3
    assert mean.module[0].weight.item() == weight
    assert mean.module[1].running_mean.item() == running_mean
    assert mean.module[1].num_batches_tracked.item() == tracked


def test_the_state_has_the_names_of_pytorch():
    names = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    expected = ["n_averaged", "module.0.weight", *(f"module.1.{name}" for name in names)]
    assert list(walked().state_dict()) == expected


def test_the_followed_model_is_not_shared():
    net = model()
    mean = swa_utils.AveragedModel(net)
    mean.update_parameters(net)
    move(net)
    assert mean.module[0].weight.item() == 1.0
    assert mean(torch.ones(2, 1)).shape == (2, 1)


def test_statistics_are_computed_over_all_batches():
    net = model().eval()
    batches = [(torch.tensor([[1.0], [2.0]]), "label"), (torch.tensor([[3.0], [6.0]]), "label")]
    swa_utils.update_bn(batches, net)
    norm = net[1]
    assert (norm.running_mean.item(), norm.running_var.item()) == (3.0, 2.5)
    assert (norm.num_batches_tracked.item(), norm.momentum, net.training) == (2, 0.1, False)


def test_wrong_arguments_are_refused_as_in_pytorch():
    message = "Invalid decay value 1.1 provided. Please provide a value in [0,1] range."
    with raises(ValueError, message):
        swa_utils.get_ema_avg_fn(1.1)
    with raises(AssertionError, "Only one of avg_fn and multi_avg_fn should be provided"):
        swa_utils.AveragedModel(model(), avg_fn=EMA, multi_avg_fn=EMA)
