"""The Tensor namespace under the array standard's names."""

import math

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.tensors.arrays import namespace as xp


def test_a_tensor_names_its_namespace():
    assert torch.ones(2).__array_namespace__() is xp


@pytest.mark.parametrize("dtype", [torch.float64, np.dtype("f8"), np.float64().dtype], ids=repr)
def test_dtypes_may_be_ours_or_numpys(dtype):
    assert xp.zeros((2,), dtype=dtype).dtype is torch.float64
    assert xp.ones(2, dtype=dtype).dtype is torch.float64
    assert xp.full((2,), 3, dtype=dtype).tolist() == [3, 3]
    assert xp.astype(torch.ones(2), dtype).dtype is torch.float64
    assert xp.zeros_like(torch.ones(2), dtype=dtype).dtype is torch.float64
    assert xp.asarray([1, 2], dtype=dtype).dtype is torch.float64
    assert xp.eye(2, 3, k=1, dtype=dtype).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_arange_may_be_empty_and_linspace_may_leave_its_end_out():
    assert xp.arange(5, 1).shape == (0,) and xp.arange(1, 5, 2).tolist() == [1, 3]
    assert xp.linspace(0, 1, 4, endpoint=False).tolist() == [0, 0.25, 0.5, 0.75]


def test_conversions_are_differentiable():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = xp.astype(x, np.dtype("f8"))
    (y * y).sum().backward()
    assert x.grad.tolist() == [2, 4]
    assert xp.astype(x, torch.float32, copy=False) is x


def test_a_real_result_of_complex_numbers_drops_the_imaginary_part_in_silence():
    assert xp.astype(torch.tensor([1 + 2j]), torch.float32).tolist() == [1]


def test_result_types_and_constants():
    assert xp.result_type(torch.ones(2, dtype=torch.int8), xp.float64) is torch.float64
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(xp.nan) and xp.finfo(xp.float32).eps == 2.0**-23
    assert xp.isdtype(xp.float32, "real floating")
