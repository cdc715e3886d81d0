"""Elements that are replaced, and their gradients."""

import math

import pytest

import tapegrad as torch
from tests.operators.gradient import gradients

inf, nan = math.inf, math.nan


def test_masked_fill_cuts_the_gradient_where_it_fills():
    mask = torch.tensor([True, False])
    assert gradients(lambda x: x.masked_fill(mask, 7.0), [1.0, 2.0]) == [0, 1]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    value = torch.tensor(3.0, requires_grad=True)
    y = x.masked_fill(mask, value)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist(), value.grad.item()) == ([3, 2], [0, 1], 1)
    assert y.grad_fn.name() == "MaskedFillBackward1"
    assert torch.tensor([1, 2]).masked_fill(mask, 1.9).tolist() == [1, 2]
    z = torch.zeros(2)
    assert z.masked_fill_(mask, 5).tolist() == [5, 0]


def test_nan_to_num_takes_replacements():
    x = torch.tensor([nan, inf, -inf, 1.0])
    assert x.nan_to_num(1.0, 2.0, 3.0).tolist() == [1, 2, 3, 1]
    assert torch.nan_to_num(x).tolist() == [0, 3.4028234663852886e38, -3.4028234663852886e38, 1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_nan_to_num_stays_within_16_bits(dtype):
    x, most = torch.tensor([inf, -inf, nan], dtype=dtype), torch.finfo(dtype).max
    assert x.nan_to_num().tolist() == [most, -most, 0]
    assert x.nan_to_num(posinf=2.0).tolist() == [2, -most, 0]
    assert x.nan_to_num_().tolist() == [most, -most, 0]
