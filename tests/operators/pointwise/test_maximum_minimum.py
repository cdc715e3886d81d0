"""The larger and the smaller of two: who gets the gradient at ties."""

import math

import tapegrad as torch
from tests.operators.gradient import gradients

inf, nan = math.inf, math.nan


A = [0, 0, 0, 0, 1, 2, -1, -2, nan, 1, 0]


B = [0, 1, -1, 2, 0, 3, 2, 0.5, 1, nan, nan]


def test_maximum_splits_the_gradient_between_ties():
    first, second = gradients(torch.maximum, A, B)
    assert first == [0.5, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1]
    assert second == [0.5, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1]


def test_minimum_splits_the_gradient_between_ties():
    first, second = gradients(torch.minimum, A, B)
    assert first == [0.5, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1]
    assert second == [0.5, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1]


def test_fmax_and_fmin_give_ties_to_the_first():
    first, second = gradients(torch.fmax, A, B)
    assert first == [1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 1]
    assert second == [0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0]
    first, second = gradients(torch.fmin, A, B)
    assert first == [1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1]
    assert second == [0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0]
