"""Weights of convolutions in another order."""

import tapegrad as torch
from tapegrad import nn


def test_weights_of_convolutions_in_another_order():
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ConvTranspose2d(3, 2, 2), nn.Linear(2, 2))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    assert nn.utils.convert_conv2d_weight_memory_format(model, torch.channels_last) is model
    assert model[0].weight.stride() == (18, 1, 6, 2) and model[1].weight.stride() == (8, 1, 4, 2)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
