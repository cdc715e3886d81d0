"""Kernels with a template in C whose results NumPy lays out as the operand, not row by row."""

import pytest

import tapegrad as torch
from tests.compiler.c_backend.templates.test_conv import compiled, is_close, source_of


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_softmax_of_a_transposed_matrix_is_c(dtype):
    x = torch.randn(5, 7, dtype=dtype)

    def function(x):
        x = x.t().detach().requires_grad_()
        y = x.softmax(1)
        return y, *torch.autograd.grad((y * y).sum(), x)

    found = compiled(function, x)
    for a, e in zip(found(x), function(x), strict=True):
        is_close(a, e)
        assert a.stride() == e.stride()
    assert "tg_softmax" in source_of(found)
