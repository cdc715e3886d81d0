"""Batch normalisation where channels are rows, and where they are columns: the same numbers."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.arrays.numpy import batch_group_norm as kernels
from tapegrad.arrays.numpy import channel_layout


def _all(x, g, w, b):
    moments = kernels.channel_moments(x, None)
    return [
        *moments,
        kernels.standardize_channels(x, *moments, w, b, None, 1e-5),
        kernels.standardize_channels_back(g, x, w, *moments, None, 1e-5),
        kernels.standardize_channels_weight_back(g, x, *moments, w, None, 1e-5),
        kernels.sum_channels(g, b),
        kernels.scale_channels(g, moments[1], w, 1e-5),
    ]


@pytest.mark.parametrize("mean", [0, 1, 50])
@pytest.mark.parametrize("shape", [(4100, 8), (1100, 6, 3), (70, 16, 2, 8)])
def test_short_channels_are_columns_with_the_same_numbers(monkeypatch, rng, mean, shape):
    x, g = mean + rng.standard_normal(shape), rng.standard_normal(shape)
    w, b = rng.standard_normal((2, shape[1]))
    arrays = [a.astype(np.float32) for a in (x, g, w, b)]
    assert type(channel_layout.layout(x, None)) is channel_layout.Columns
    columns = _all(*arrays)
    monkeypatch.setattr(channel_layout, "_COLUMNS", 0)
    assert type(channel_layout.layout(x, None)) is channel_layout.Rows
    for found, rows, want in zip(columns, _all(*arrays), _all(x, g, w, b), strict=True):
        scale = np.abs(want).max()
        assert found.dtype == rows.dtype == np.float32
        np.testing.assert_allclose(found, want, rtol=0, atol=4e-6 * scale)
        np.testing.assert_allclose(rows, want, rtol=0, atol=4e-6 * scale)


def test_one_sample_and_groups_are_rows():
    x = np.ones((1, 4, 2), np.float32)
    assert type(channel_layout.layout(x, None)) is channel_layout.Rows
    assert type(channel_layout.layout(np.ones((3, 4), np.float32), 2)) is channel_layout.Rows


@pytest.mark.parametrize("norm", [torch.nn.BatchNorm2d(8), torch.nn.GroupNorm(2, 8)])
@pytest.mark.parametrize("side", [3, 12])
def test_the_rules_of_a_node_share_their_sums(monkeypatch, norm, side):
    made = []
    for kind in (channel_layout.Rows, channel_layout.Columns):
        for name in ("sums", "both_sums"):
            function = getattr(kind, name)

            def counted(*args, function=function, name=name):
                made.append(name)
                return function(*args)

            monkeypatch.setattr(kind, name, counted)
    x = torch.randn(400, 8, side, side, requires_grad=True)
    y = norm(x)
    inputs = x, norm.weight, norm.bias
    g = torch.randn_like(y)
    made.clear()
    together = torch.autograd.grad(y, inputs, g, retain_graph=True)
    assert made == ["both_sums"]
    alone = [torch.autograd.grad(y, each, g, retain_graph=True)[0] for each in inputs]
    assert made == ["both_sums", "both_sums", "both_sums", "sums"]
    assert channel_layout.SHARED_SUMS.kept is None
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-4)
