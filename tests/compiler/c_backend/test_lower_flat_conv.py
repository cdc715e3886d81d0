"""Convolutions whose kernels see one place are products, wherever their images lie."""

import pytest

import tapegrad as torch
from tests.compiler.c_backend.templates.test_conv import compiled, is_close, source_of

CASES = {
    "images": (4, 6, 8, 7, 9, (1, 1)),
    "few places": (5, 6, 8, 2, 3, (1, 1)),
    "one image": (1, 6, 8, 2, 3, (1, 1)),
    "one place": (5, 6, 8, 1, 1, (1, 1)),
    "strided": (3, 6, 8, 9, 14, (2, 3)),
    "strided, few places": (5, 6, 8, 4, 4, (2, 2)),
}


def _gradients(stride, bias):
    def gradients(x, w, b):
        x, w, b = (each.detach().requires_grad_() for each in (x, w, b))
        y = torch.nn.functional.conv2d(x, w, b if bias else None, stride)
        leaves = (x, w, b) if bias else (x, w)
        return y, *torch.autograd.grad((y * y).sum(), leaves)

    return gradients


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_eager(name, bias, last):
    n, channels, out, height, width, stride = CASES[name]
    x, w, b = (
        torch.randn(*shape, dtype=torch.float64)
        for shape in ((n, channels, height, width), (out, channels, 1, 1), (out,))
    )
    if last:
        x = x.to(memory_format=torch.channels_last)
    function = _gradients(stride, bias)
    found = compiled(function, x, w, b)
    for a, e in zip(found(x, w, b), function(x, w, b), strict=True):
        is_close(a, e)
        assert a.stride() == e.stride()
    source = source_of(found)
    assert "tg_convolve_weights" not in source
    assert "tg_convolve_transposed" not in source or stride != (1, 1)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_kernels_that_see_all_of_an_image(transposed, last):
    kind = torch.nn.ConvTranspose2d if transposed else torch.nn.Conv2d
    layer = kind(5, 6, (3, 4)).double()
    x = torch.randn(7, 5, *((1, 1) if transposed else (3, 4)), dtype=torch.float64)
    x = x.to(memory_format=torch.channels_last) if last else x

    def function(x):
        x = x.detach().requires_grad_()
        y = layer(x)
        return y, *torch.autograd.grad((y * y).sum(), (x, *layer.parameters()))

    found = compiled(function, x)
    for a, e in zip(found(x), function(x), strict=True):
        is_close(a, e)
    assert "tg_convolve" not in source_of(found)


@pytest.mark.parametrize("n_axes", [1, 3])
def test_of_one_axis_and_of_three(n_axes):
    x = torch.randn(3, 4, *(5, 6, 7)[:n_axes])
    w = torch.randn(6, 4, *(1,) * n_axes)
    conv = getattr(torch.nn.functional, f"conv{n_axes}d")

    def function(x, w):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        y = conv(x, w)
        return y, *torch.autograd.grad(y.sin().sum(), (x, w))

    found = compiled(function, x, w)
    for a, e in zip(found(x, w), function(x, w), strict=True):
        is_close(a, e)
    assert "tg_convolve" not in source_of(found)
