"""The kernels of batch and group normalisation: shared over threads, they give the same."""

import numpy as np
import pytest

from tapegrad.arrays.numpy import batch_group_norm as kernels
from tapegrad.arrays.numpy import blas_threads, blocks, channel_layout
from tapegrad.core import threads


@pytest.mark.parametrize(("groups", "length"), [(None, 700), (None, 5), (None, 1), (4, 700)])
@pytest.mark.parametrize("mean", [0, 50])
def test_any_number_of_threads_gives_the_same(monkeypatch, rng, groups, mean, length):
    x = mean + rng.standard_normal((37 * (700 // length), 12, length), dtype=np.float32)
    g = rng.standard_normal(x.shape, dtype=np.float32)
    w, b = rng.standard_normal((2, 12), dtype=np.float32)
    monkeypatch.setattr(blocks, "LARGE", 1)
    monkeypatch.setattr(blas_threads, "LARGE", 1)
    monkeypatch.setattr(channel_layout, "BLOCK", 1 << 13)
    monkeypatch.setattr(channel_layout, "_SUMMED", 1 << 9)
    found = []
    for n in (1, 2, 3, 5):
        monkeypatch.setattr(threads, "_chosen", n)
        with blas_threads.one_blas_thread():
            moments = kernels.channel_moments(x, groups)
            found.append(
                [
                    *moments,
                    kernels.standardize_channels(x, *moments, w, b, groups, 1e-5),
                    kernels.standardize_channels_back(g, x, w, *moments, groups, 1e-5),
                    kernels.standardize_channels_weight_back(g, x, *moments, w, groups, 1e-5),
                    kernels.sum_channels(g, b),
                ]
            )
    for other in found[1:]:
        for one, another in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, another)
