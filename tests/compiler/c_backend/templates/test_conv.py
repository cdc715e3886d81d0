"""Compiled convolutions against eager: results, gradients, memory formats, threads, sizes."""

import numpy as np
import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad import nn
from tapegrad.compiler.c_backend import lowered, pool
from tapegrad.compiler.c_backend.lower_column_conv import lower_column_conv
from tapegrad.compiler.c_backend.lower_flat_conv import lower_flat_conv
from tapegrad.compiler.c_backend.lower_small_conv import lower_small_conv
from tapegrad.compiler.parts import parts_of

_PRODUCTS = lower_flat_conv, lower_column_conv, lower_small_conv


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _templates_alone(monkeypatch, folder):
    """Convolutions are calls, however small they are: other rules make products of some."""
    monkeypatch.setenv("TAPEGRAD_CACHE_DIR", str(folder))
    monkeypatch.setattr(lowered, "RULES", [x for x in lowered.RULES if x not in _PRODUCTS])


TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def compiled(function, *arguments):
    """`function` as a C program that holds for `arguments`."""
    found = torch.compile(function, backend="c", fullgraph=True)
    for _ in range(3):
        found(*arguments)
    assert [each["backend"] for each in found.explain().programs] == ["C"]
    return found


def source_of(function):
    return function.entries[-1].runner.source


def is_close(found, want):
    scale = want.abs().max().item() if want.numel() else 0
    tolerance = TOLERANCE[want.dtype]
    torch.testing.assert_close(found, want, rtol=tolerance, atol=tolerance * scale)


def gradients_of(layer, wanted):
    """A function of images that gives the layer's result and the gradients that are wanted."""

    def gradients(x):
        x = x.detach().requires_grad_("input" in wanted)
        leaves = [x] if "input" in wanted else []
        leaves += [p for name, p in layer.named_parameters() if name in wanted]
        y = layer(x)
        return y, *torch.autograd.grad((y * y).sum(), leaves)

    return gradients


LAYERS = {
    "3x3": (nn.Conv2d, (4, 20, 3), {"padding": 1}, (2, 4, 9, 11)),
    "valid": (nn.Conv2d, (4, 20, 3), {}, (2, 4, 9, 11)),
    "same": (nn.Conv2d, (4, 20, 4), {"padding": "same"}, (2, 4, 9, 11)),
    "reflect": (nn.Conv2d, (4, 20, 3), {"padding": 2, "padding_mode": "reflect"}, (2, 4, 9, 11)),
    "circular": (nn.Conv2d, (4, 20, 3), {"padding": 1, "padding_mode": "circular"}, (2, 4, 9, 9)),
    "strided": (nn.Conv2d, (4, 20, 3), {"stride": (2, 3), "padding": 1}, (2, 4, 14, 17)),
    "dilated": (nn.Conv2d, (4, 20, 3), {"dilation": (3, 2), "padding": 2}, (2, 4, 14, 17)),
    "1x1": (nn.Conv2d, (24, 40, 1), {}, (2, 24, 7, 5)),
    "1x1 strided": (nn.Conv2d, (24, 40, 1), {"stride": 2}, (2, 24, 7, 5)),
    "groups": (nn.Conv2d, (12, 60, 3), {"groups": 3, "padding": 1}, (2, 12, 9, 8)),
    "depthwise": (nn.Conv2d, (12, 12, 3), {"groups": 12, "padding": 1}, (2, 12, 9, 40)),
    "few channels": (nn.Conv2d, (12, 2, 5), {"padding": 2}, (2, 12, 9, 40)),
    "no bias": (nn.Conv2d, (4, 20, 3), {"bias": False}, (2, 4, 9, 11)),
    "one axis": (nn.Conv1d, (4, 20, 5), {"padding": 2}, (2, 4, 700)),
    "transposed": (nn.ConvTranspose2d, (6, 20, 3), {"padding": 1}, (2, 6, 9, 11)),
    "transposed strided": (
        nn.ConvTranspose2d,
        (6, 20, 3),
        {"stride": 2, "output_padding": 1, "dilation": 2},
        (2, 6, 9, 11),
    ),
    "transposed, gaps": (nn.ConvTranspose2d, (6, 20, 2), {"stride": (3, 4)}, (2, 6, 5, 6)),
    "transposed, one axis": (nn.ConvTranspose1d, (6, 5, 4), {"stride": 2}, (2, 6, 50)),
}


DOUBLE = ("3x3", "strided", "depthwise", "transposed strided")  # more of them in test_templates


@pytest.mark.parametrize(
    ("name", "dtype"),
    [*((name, torch.float32) for name in LAYERS), *((name, torch.float64) for name in DOUBLE)],
)
def test_a_layer_and_its_gradients_are_those_of_eager(name, dtype):
    kind, sizes, options, shape = LAYERS[name]
    torch.manual_seed(0)
    layer = kind(*sizes, **options).to(dtype)
    x = torch.randn(*shape, dtype=dtype)
    function = gradients_of(layer, ("input", "weight", "bias"))
    found = compiled(function, x)
    for a, b in zip(found(x), function(x), strict=True):
        is_close(a, b)
    source = source_of(found)
    assert "tg_convolve" in source and "tg_convolve_transposed" in source
    assert "tg_convolve_weights" in source


@pytest.mark.parametrize("wanted", [("input",), ("weight",), ("bias",), ("weight", "bias")])
def test_only_the_wanted_gradients_are_computed(wanted):
    layer, x = nn.Conv2d(4, 20, 3), torch.randn(2, 4, 9, 11)
    function = gradients_of(layer, wanted)
    found = compiled(function, x)
    for a, b in zip(found(x), function(x), strict=True):
        is_close(a, b)
    source = source_of(found)
    assert ("tg_convolve_transposed" in source) == ("input" in wanted)
    assert ("tg_convolve_weights" in source) == ("weight" in wanted)


@pytest.mark.parametrize("shape", [(0, 4, 9, 11), (2, 4, 5, 9, 11)])
def test_what_has_no_template_is_called(shape):
    kind = nn.Conv2d if len(shape) == 4 else nn.Conv3d
    layer, x = kind(4, 20, 3), torch.randn(*shape)
    function = gradients_of(layer, ("input", "weight", "bias"))
    found = compiled(function, x)
    for a, b in zip(found(x), function(x), strict=True):
        is_close(a, b)
    assert "tg_convolve" not in source_of(found)


def test_images_with_their_channels_last_give_such_results():
    layer = nn.Conv2d(4, 20, 3, padding=1)
    x = torch.randn(2, 4, 9, 11).to(memory_format=torch.channels_last)
    function = gradients_of(layer, ("input", "weight", "bias"))
    found = compiled(function, x)
    for a, b in zip(found(x), function(x), strict=True):
        is_close(a, b)
        assert a.stride() == b.stride()
    parts = parts_of(found.entries[0])[0].parts
    assert not [part for part in parts if part.kind == "python"]


def test_zeros_around_an_image_are_not_its_neighbours():
    layer, x = nn.Conv2d(2, 20, 3, padding=1), torch.randn(3, 2, 6, 7)
    x[1] = float("nan")
    x[2, 1, -1] = float("inf")
    found = compiled(layer.requires_grad_(False), x)
    a, b = found(x), layer(x)
    assert torch.equal(a.isnan(), b.isnan()) and torch.equal(a.isinf(), b.isinf())
    assert not a[0].isnan().any() and not a[2, :, :4].isnan().any()


@pytest.mark.skipif(not pool.IS_THERE, reason="no POSIX threads")
@pytest.mark.parametrize("name", ["3x3", "strided", "depthwise", "transposed strided", "one axis"])
def test_threads_leave_the_bits_as_they_are(name):
    kind, sizes, options, (n, *shape) = LAYERS[name]
    layer, x = kind(*sizes, **options), torch.randn(16 * n, *shape)
    found = compiled(gradients_of(layer, ("input", "weight", "bias")), x)
    assert "tg_convolve_shared_f32" in source_of(found)
    before, results = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append([np.asarray(y.detach()).tobytes() for y in found(x)])
    finally:
        torch.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_other_sizes_are_arguments_of_the_same_program():
    layer = nn.Conv2d(4, 20, 3, padding=1)
    function = gradients_of(layer, ("input", "weight", "bias"))
    found = torch.compile(function, backend="c", fullgraph=True)
    for n, size in ((4, 9), (3, 9), (2, 9), (2, 12)):
        x = torch.randn(n, 4, size, 10)
        for _ in range(3):
            results = found(x)
        for a, b in zip(results, function(x), strict=True):
            is_close(a, b)
    assert max(each.runner.n_sizes for each in found.entries) > 0


def test_a_part_of_the_program_is_the_convolution_with_its_operations():
    found = compiled(nn.Conv2d(4, 20, 3, padding=1).requires_grad_(False), torch.randn(2, 4, 9, 11))
    part, *others = parts_of(found.dynamo_ctx.entries[0])[0].parts
    assert not others and (part.kind, part.operators) == ("call", ["convolve"])
    assert part.flops == 2 * (2 * 20 * 9 * 11) * (4 * 3 * 3)
    assert any("tg_convolve" in text for text in part.functions)


def test_a_step_learns_as_it_does_in_eager():
    def trained(compile):
        torch.manual_seed(0)
        model = nn.Sequential(
            nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 20, 3, padding=1), nn.BatchNorm2d(20),
            nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(20 * 49, 5),
        )  # fmt: skip
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        x, y = torch.randn(8, 1, 16, 16), torch.randint(0, 5, (8,))

        def step():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step = torch.compile(step, backend="c", fullgraph=True) if compile else step
        return [step().item() for _ in range(8)]

    np.testing.assert_allclose(trained(True), trained(False), rtol=2e-4)
