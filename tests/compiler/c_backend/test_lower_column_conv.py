"""Convolutions of small images by many kernels are products with columns."""

import pytest

import tapegrad as torch
from tapegrad.compiler.c_backend import lower_column_conv
from tests.compiler.c_backend.noted import noted
from tests.compiler.c_backend.templates.test_conv import compiled, is_close

ALL = {"xp.convolve", "xp.convolve_transposed", "xp.convolve_weights"}
CASES = {
    "padded": ((5, 40, 4, 4), (48, 40, 3, 3), 1, 1, 1, ALL),
    "strided": ((5, 40, 7, 8), (48, 40, 3, 3), (2, 3), 1, 1, ALL),
    "dilated": ((5, 40, 7, 6), (48, 40, 3, 3), 1, (2, 1), (2, 1), ALL),
    "wide padding": ((3, 40, 2, 2), (48, 40, 3, 4), 1, (2, 3), 1, ALL),
    "no padding": ((3, 40, 5, 6), (80, 40, 2, 3), 2, 0, 1, ALL),
    "few channels": ((9, 5, 12, 12), (16, 5, 5, 5), 1, 0, 1, {"xp.convolve_transposed"}),
    "few channels, strided": ((9, 5, 13, 13), (16, 5, 3, 3), 2, 1, 1, {"xp.convolve_transposed"}),
    "many places": ((9, 40, 12, 12), (48, 40, 3, 3), 1, 1, 1, set()),
    "one image": ((1, 40, 4, 4), (48, 40, 3, 3), 1, 1, 1, set()),
}


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_eager(name, dtype, last, monkeypatch, tmp_path):
    lowered = noted(monkeypatch, tmp_path, lower_column_conv.lower_column_conv)
    image, kernels, stride, padding, dilation, wanted = CASES[name]
    x, w, b = (torch.randn(*s, dtype=dtype) for s in (image, kernels, kernels[:1]))
    if last:
        x = x.to(memory_format=torch.channels_last)

    def gradients(x, w, b):
        x, w, b = (each.detach().requires_grad_() for each in (x, w, b))
        y = torch.nn.functional.conv2d(x, w, b, stride, padding, dilation)
        return y, *torch.autograd.grad((y * y).sum(), (x, w, b))

    found = compiled(gradients, x, w, b)
    for a, e in zip(found(x, w, b), gradients(x, w, b), strict=True):
        is_close(a, e)
    assert set(lowered) == wanted


def test_transposed_convolutions(monkeypatch, tmp_path):
    lowered = noted(monkeypatch, tmp_path, lower_column_conv.lower_column_conv)
    layer = torch.nn.ConvTranspose2d(40, 48, 3, 2, 1, output_padding=1).double()
    x = torch.randn(5, 40, 3, 4, dtype=torch.float64)

    def gradients(x):
        x = x.detach().requires_grad_()
        y = layer(x)
        return y, *torch.autograd.grad((y * y).sum(), (x, *layer.parameters()))

    found = compiled(gradients, x)
    for a, e in zip(found(x), gradients(x), strict=True):
        is_close(a, e)
    assert set(lowered) == ALL
