"""Dropout: PyTorch's numbers for a seed, in place, channels, and what is refused."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises

F = torch.nn.functional


def test_the_same_seed_drops_what_pytorch_drops():
    torch.manual_seed(0)
    assert (F.dropout(torch.ones(8), 0.25) > 0).tolist() == [
        bool(i) for i in (0, 1, 1, 0, 1, 0, 1, 1)
    ]
    assert F.dropout2d(torch.ones(1, 4, 1, 2), 0.5).flatten().tolist() == [0.0] * 2 + [2.0] * 6
    np.testing.assert_allclose(
        F.alpha_dropout(torch.ones(4), 0.5, True)._array,
        [1.66559887, -0.77919394, 1.66559887, 1.66559887],
        rtol=1e-6,
    )
    assert torch.rand(1).item() == pytest.approx(0.17591017484664917, abs=1e-9)


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d"])
def test_in_place_is_the_same(name):
    x = torch.randn(2, 3, 4)
    found = []
    for in_place in (False, True):
        torch.manual_seed(1)
        leaf = x.clone().requires_grad_()
        before = leaf * 1
        y = getattr(F, name)(before, 0.4, True, in_place)
        assert (y is before) == in_place
        y.sum().backward()
        found.append((y.tolist(), leaf.grad.tolist()))
    assert found[0] == found[1]


def test_without_training_the_tensor_itself_comes_back():
    x = torch.ones(2, 3)
    assert F.dropout(x, 0.5, training=False) is x and torch.dropout(x, 0.0, True) is x
    assert torch.alpha_dropout(x, 0.5, False) is x


def test_what_is_refused():
    with raises(ValueError, "dropout probability has to be between 0 and 1, but got 1.5"):
        F.dropout(torch.ones(2), 1.5)
    with raises(RuntimeError, "Feature dropout requires at least 2 dimensions in the input"):
        torch.feature_dropout(torch.ones(2), 0.5, True)
    with pytest.warns(UserWarning, match="dropout2d: Received a 2-D input to dropout2d"):
        F.dropout2d(torch.ones(2, 3))


def test_native_dropout_keeps_the_dtype():
    x = torch.arange(4, dtype=torch.uint8)
    y, mask = torch.native_dropout(x, 0.5, False)
    assert y.dtype is torch.uint8 and y.tolist() == [0, 1, 2, 3] and mask.all()
    for p in (0.0, 0.5, 1.0):
        with raises(
            RuntimeError, "result type Float can't be cast to the desired output type Byte"
        ):
            torch.native_dropout(x, p, True)
    z = torch.ones(3, dtype=torch.complex64)
    assert torch.native_dropout(z, 0.5, True)[0].dtype is torch.complex64
    text = (
        "native_dropout does not support automatic differentiation for outputs with complex dtype."
    )
    with raises(RuntimeError, text):
        torch.native_dropout(z.requires_grad_(), 0.5, True)
