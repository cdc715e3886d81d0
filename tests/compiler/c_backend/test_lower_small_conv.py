"""Convolutions of small images are those of one image with the batch as its last axis."""

import pytest

import tapegrad as torch
from tapegrad.compiler.c_backend import lower_small_conv
from tests.compiler.c_backend.noted import noted
from tests.compiler.c_backend.templates.test_conv import compiled, is_close

CASES = {
    "depthwise": ((6, 12, 5, 5), (12, 1, 3, 3), 1, 1, 12),
    "depthwise, dilated": ((6, 12, 7, 6), (12, 1, 3, 2), (2, 1), 2, 12),
    "groups": ((5, 12, 6, 6), (9, 4, 3, 3), 1, 1, 3),
    "no padding": ((5, 12, 6, 7), (12, 2, 3, 3), 0, 1, 6),
    "wide padding": ((4, 6, 3, 3), (6, 1, 5, 5), 3, 1, 6),
}


def _gradients(padding, dilation, groups):
    def gradients(x, w, b):
        x, w, b = (each.detach().requires_grad_() for each in (x, w, b))
        y = torch.nn.functional.conv2d(x, w, b, 1, padding, dilation, groups)
        return y, *torch.autograd.grad((y * y).sum(), (x, w, b))

    return gradients


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_eager(name, dtype, last, monkeypatch, tmp_path):
    turned = noted(monkeypatch, tmp_path, lower_small_conv.lower_small_conv)
    image, kernels, padding, dilation, groups = CASES[name]
    x, w, b = (torch.randn(*s, dtype=dtype) for s in (image, kernels, kernels[:1]))
    if last:
        x = x.to(memory_format=torch.channels_last)
    function = _gradients(padding, dilation, groups)
    found = compiled(function, x, w, b)
    for a, e in zip(found(x, w, b), function(x, w, b), strict=True):
        is_close(a, e)
        assert a.stride() == e.stride()
    assert set(turned) == {"xp.convolve", "xp.convolve_transposed", "xp.convolve_weights"}
