"""Bilinear forms, against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.operators.waves import cosines, sines, value_and_gradients

F = torch.nn.functional


def near(values):
    return pytest.approx(values, abs=1e-8)


def test_bilinear_forms():
    a, b = sines(3, 4), cosines(3, 3)
    y, of_a, of_b, of_weight = value_and_gradients(F.bilinear, a, b, cosines(2, 4, 3))
    assert y == near(
        [-0.123848883, -0.168795423, 1.047741582, 0.822433921, 1.486797376, 1.361254067]
    )
    assert of_a[:2] == near([2.742351558, -2.623807959])
    assert of_b[:2] == near([-0.20467491, -0.030841123])
    assert of_weight[:2] == near([1.699181183, 1.240558536])
