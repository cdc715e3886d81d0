"""ReLU at the end of a compiled convolution: where it is a part of it, and where it may not be."""

import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad import nn
from tapegrad.compiler.parts import parts_of
from tests.compiler.c_backend.templates.test_conv import compiled, gradients_of, is_close

LAYERS = {
    "direct": (nn.Conv2d, (4, 20, 3), {"stride": 2}, (2, 4, 9, 11)),
    "direct, few channels": (nn.Conv2d, (12, 2, 5), {"padding": 2}, (2, 12, 9, 40)),
    "direct, no bias": (nn.Conv2d, (4, 20, 3), {"bias": False}, (2, 4, 9, 11)),
    "one axis": (nn.Conv1d, (4, 20, 5), {"padding": 2}, (2, 4, 70)),
    "transposed": (nn.ConvTranspose2d, (6, 28, 2), {"stride": (3, 4)}, (2, 6, 5, 6)),
    "at points": (nn.Conv2d, (32, 32, 3), {"padding": 1}, (2, 32, 20, 24)),
    "at points, no bias": (nn.Conv2d, (32, 32, 3), {"bias": False}, (2, 32, 20, 24)),
    "at points, transposed": (nn.ConvTranspose2d, (32, 32, 3), {}, (2, 32, 20, 24)),
}


def loops_of(function):
    """The elementwise operations of a compiled function that are loops of their own."""
    found = getattr(function, "dynamo_ctx", function)  # of a module
    parts = parts_of(found.entries[-1])[0].parts
    return [name for part in parts if part.kind == "loop" for name in part.operators]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", LAYERS)
def test_a_convolution_and_its_relu_are_one_call(name, dtype):
    kind, sizes, options, shape = LAYERS[name]
    torch.manual_seed(0)
    layer = nn.Sequential(kind(*sizes, **options), nn.ReLU()).to(dtype).requires_grad_(False)
    x = torch.randn(*shape, dtype=dtype)
    found = compiled(layer, x)
    is_close(found(x), layer(x))
    assert (found(x) >= 0).all() and "maximum" not in loops_of(found)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_go_through_both(name):
    kind, sizes, options, shape = LAYERS[name]
    torch.manual_seed(0)
    layer, x = nn.Sequential(kind(*sizes, **options), nn.ReLU()), torch.randn(*shape)
    function = gradients_of(layer, ("input", "0.weight", "0.bias"))
    found = compiled(function, x)
    for a, b in zip(found(x), function(x), strict=True):
        is_close(a, b)
    assert "maximum" not in loops_of(found)


@pytest.mark.parametrize("name", ["direct", "at points"])
def test_nan_is_not_taken_for_a_negative_number(name):
    kind, sizes, options, shape = LAYERS[name]
    layer, x = nn.Sequential(kind(*sizes, **options), nn.ReLU()).requires_grad_(False), None
    x = torch.randn(*shape)
    x[0, 1, 5, 5] = float("nan")
    x[1, 1, 5, 5] = float("inf")
    a, b = compiled(layer, x)(x), layer(x)
    assert torch.equal(a.isnan(), b.isnan()) and torch.equal(a.isinf(), b.isinf())
    assert a.isnan().any() and not a.isnan().all()


def both(y):
    return y, F.relu(y)


OTHERS = {
    "what is given as well": both,
    "what is read twice": lambda y: F.relu(y) + y,
    "a part of it": lambda y: F.relu(y[:, 1:]),
    "another bound": lambda y: torch.maximum(y, torch.tensor(1.0)),
    "in other places": lambda y: F.relu(y.transpose(2, 3)).contiguous(),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_convolution_stays_as_it_is_for(name):
    layer, x = nn.Conv2d(4, 20, 3).requires_grad_(False), torch.randn(2, 4, 9, 11)

    def function(x):
        return OTHERS[name](layer(x))

    found = compiled(function, x)
    results, expected = found(x), function(x)
    results, expected = [y if type(y) is tuple else (y,) for y in (results, expected)]
    for a, b in zip(results, expected, strict=True):
        is_close(a, b)
    assert "maximum" in loops_of(found)


def test_a_relu_in_place_gives_what_it_gives_in_eager():
    layer = nn.Sequential(nn.Conv2d(4, 20, 3), nn.ReLU(inplace=True)).requires_grad_(False)
    x = torch.randn(2, 4, 9, 11)
    is_close(compiled(layer, x)(x), layer(x))
