"""Dropout as modules. The masks and messages are PyTorch's."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad import nn
from tests.messages import raises


def test_dropout_draws_pytorchs_mask(seed):
    y = F.dropout(torch.ones(20), 0.3)
    zeros = [i for i, v in enumerate(y.tolist()) if v == 0]
    assert zeros == [0, 1, 3, 5, 19]
    assert y[2].item() == pytest.approx(1 / 0.7)


def test_dropout_stands_still_in_evaluation():
    x = torch.ones(3)
    assert nn.Dropout(0.9).eval()(x) is x
    assert F.dropout(x, 0.0) is x
    assert F.dropout(x, 1.0).tolist() == [0.0, 0.0, 0.0]
    assert repr(nn.Dropout(0.2, inplace=True)) == "Dropout(p=0.2, inplace=True)"


def test_dropout_has_a_gradient_where_it_kept():
    x = torch.ones(20, requires_grad=True)
    y = nn.Dropout(0.5)(x)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def test_a_probability_is_between_0_and_1():
    message = "dropout probability has to be between 0 and 1, but got 2"
    with raises(ValueError, message):
        nn.Dropout(2)
    with raises(ValueError, message):
        F.dropout(torch.ones(1), 2)


def test_dropout_zeroes_whole_channels():
    torch.manual_seed(0)
    y = nn.Dropout2d(0.5)(torch.ones(8, 4, 3, 3))
    sums = {value for row in y.sum((2, 3)).tolist() for value in row}
    assert sums == {0.0, 18.0}
    for kind in (nn.Dropout1d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout):
        x = torch.ones(2, 3, 4) if kind is nn.Dropout1d else torch.ones(2, 3, 4, 2, 2)
        assert torch.equal(kind().eval()(x), x)
        assert repr(kind()) == f"{kind.__name__}(p=0.5, inplace=False)"
