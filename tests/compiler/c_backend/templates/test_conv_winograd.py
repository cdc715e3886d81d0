"""Compiled 3x3 convolutions at Winograd's points: results, errors, threads, the choice."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad import nn
from tapegrad.compiler.c_backend import pool
from tapegrad.compiler.c_backend.templates import conv_winograd
from tests.compiler.c_backend.template_call import call_of, prepared
from tests.compiler.c_backend.templates.test_conv import compiled, gradients_of, is_close, source_of

LAYERS = {
    "padded": (nn.Conv2d, (32, 64, 3), {"padding": 1}, (2, 32, 16, 24)),
    "valid": (nn.Conv2d, (32, 48, 3), {"bias": False}, (3, 32, 26, 26)),
    "no whole tiles": (nn.Conv2d, (33, 31, 3), {"padding": 1}, (2, 33, 37, 23)),
    "small images": (nn.Conv2d, (64, 70, 3), {"padding": 1}, (9, 64, 8, 7)),
    "wide images": (nn.Conv2d, (24, 20, 3), {"padding": (0, 2)}, (1, 24, 9, 270)),
    "many channels": (nn.Conv2d, (130, 100, 3), {"padding": 1}, (3, 130, 14, 14)),
    "more padding": (nn.Conv2d, (32, 32, 3), {"padding": 4}, (3, 32, 20, 24)),
    "reflect": (nn.Conv2d, (32, 32, 3), {"padding": 2, "padding_mode": "reflect"}, (2, 32, 20, 20)),
    "transposed": (nn.ConvTranspose2d, (48, 40, 3), {"padding": 1}, (2, 48, 21, 18)),
    "transposed, padded": (nn.ConvTranspose2d, (48, 40, 3), {"padding": 3}, (2, 48, 22, 19)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_and_its_gradients_are_those_of_eager(name):
    kind, sizes, options, shape = LAYERS[name]
    torch.manual_seed(0)
    layer, x = kind(*sizes, **options), torch.randn(*shape)
    function = gradients_of(layer, ("input", "weight", "bias"))
    found = compiled(function, x)
    for a, b in zip(found(x), function(x), strict=True):
        is_close(a, b)
    source = source_of(found)
    assert source.count("tg_winograd_shared_f32(") >= 3  # what is defined, and both directions
    assert "tg_winograd_weights_shared_f32(" in source


@pytest.mark.skipif(not pool.IS_THERE, reason="no POSIX threads")
@pytest.mark.parametrize("name", ["padded", "no whole tiles", "wide images", "transposed"])
def test_threads_leave_the_bits_as_they_are(name):
    kind, sizes, options, (n, *shape) = LAYERS[name]
    layer, x = kind(*sizes, **options), torch.randn(5 * n, *shape)
    found = compiled(gradients_of(layer, ("input", "weight", "bias")), x)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append([np.asarray(y.detach()).tobytes() for y in found(x)])
    finally:
        torch.set_num_threads(before)
    assert results[0] == results[1] == results[2]


STEPS = ((1, 1), (1, 1), (1, 1), 1)


def calls(n, channels, out, size, normal):
    """Arguments of the three kernels for a padded convolution."""
    x, y = normal((n, channels, size, size)), normal((n, out, size, size))
    w = normal((out, channels, 3, 3)) / np.float32(3 * channels**0.5)
    yield "convolve", (x, w, None, *STEPS, (size, size))
    yield "convolve_transposed", (y, w, None, *STEPS, (size, size))
    yield "convolve_weights", (x, y, *STEPS, (3, 3))


@pytest.mark.parametrize(("channels", "n", "size"), [(16, 3, 32), (64, 3, 24), (256, 1, 16)])
@pytest.mark.parametrize("is_positive", [False, True])
def test_the_error_is_far_from_what_compiled_kernels_are_held_to(channels, n, size, is_positive):
    random = np.random.default_rng(0)

    def normal(shape):
        x = random.standard_normal(shape, np.float32)
        return abs(x) if is_positive else x

    for name, arguments in calls(n, channels, channels, size, normal):
        assert call_of(name, *arguments).function.startswith("tg_winograd")
        run, (found,), _ = prepared(name, arguments, {})
        run()
        double = [x.astype("d") if isinstance(x, np.ndarray) else x for x in arguments]
        _, _, (exact,) = prepared(name, double, {})
        assert abs(found - exact).max() < 5e-6 * abs(exact).max()


@pytest.mark.parametrize("value", [np.nan, np.inf, 2e38])
@pytest.mark.parametrize("threads", [0, 2])
def test_what_is_not_finite_stays_where_it_belongs(value, threads):
    random = np.random.default_rng(0)
    for name, arguments in calls(2, 32, 40, 20, lambda x: random.standard_normal(x, np.float32)):
        arguments[0][1, 3, 7, 9] = value
        assert call_of(name, *arguments).function.startswith("tg_winograd")
        run, (found,), (expected,) = prepared(name, arguments, {}, threads=threads)
        run()
        assert np.array_equal(np.isfinite(found), np.isfinite(expected))
        assert np.array_equal(np.isnan(found), np.isnan(expected))
        assert np.isfinite(found).any()


def test_it_is_chosen_where_it_is_quicker():
    chosen = conv_winograd.convolution
    for C, O, size in ((16, 16, 64), (32, 64, 24), (64, 64, 32), (256, 256, 14)):  # noqa: E741
        assert chosen(8, C, O, (size, size))
        assert conv_winograd.gradient_of_kernels(8, C, O, (size, size))
    assert chosen(16, 3, 64, (64, 64)) is None  # what a channel costs is more than is saved
    assert chosen(1, 256, 256, (7, 7)) is None  # and so are the kernels
    assert chosen(64, 1024, 1024, (14, 14)) is None  # which are too many
    assert conv_winograd.gradient_of_kernels(1, 256, 256, (7, 7)) is None


@pytest.mark.parametrize(
    ("dtype", "kernel", "stride", "dilation", "groups"),
    [("d", 3, 1, 1, 1), ("f", 5, 1, 1, 1), ("f", 3, 2, 1, 1), ("f", 3, 1, 2, 1), ("f", 3, 1, 1, 2)],
)
def test_what_is_no_such_convolution_is_computed_as_it_was(dtype, kernel, stride, dilation, groups):
    size = (32 - dilation * (kernel - 1) - 1) // stride + 1
    x, y = np.ones((4, 64, 32, 32), dtype), np.ones((4, 64, size, size), dtype)
    w = np.ones((64, 64 // groups, kernel, kernel), dtype)
    steps = ((stride,) * 2, (0, 0), (dilation,) * 2, groups)
    found = call_of("convolve", x, w, None, *steps, (size, size))
    assert found.function == f"tg_convolve_f{8 * w.itemsize}"
    found = call_of("convolve_transposed", y, w, None, *steps, (32, 32))
    assert found.function == f"tg_convolve_transposed_f{8 * w.itemsize}"
    found = call_of("convolve_weights", x, y, *steps, (kernel, kernel))
    assert found.function == f"tg_convolve_weights_f{8 * w.itemsize}"
