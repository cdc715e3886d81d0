"""Axes joined and split."""

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


def test_axes_are_joined_and_split():
    x = torch.arange(12.0).reshape(2, 2, 3)
    assert nn.Flatten()(x).shape == (2, 6)
    assert nn.Flatten(0, 1)(x).shape == (4, 3)
    assert nn.Unflatten(2, (3, 1))(x).shape == (2, 2, 3, 1)
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert repr(nn.Unflatten(1, (2, 3))) == "Unflatten(dim=1, unflattened_size=(2, 3))"
    with raises(TypeError, "unflattened_size must be a tuple of ints, but found type int"):
        nn.Unflatten(1, 3)
    message = "unflattened_size must be tuple of ints, but found element of type str at pos 1"
    with raises(TypeError, message):
        nn.Unflatten(1, (2, "a"))
