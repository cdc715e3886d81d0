"""Batch norm in evaluation as a part of the compiled convolution before it."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.compiler.c_backend.templates.test_conv import compiled, is_close, source_of
from tests.compiler.c_backend.test_relu_of_calls import loops_of


def trained(layer):
    """A layer in evaluation whose norms are not the identity, and that needs no gradients."""
    for each in layer.modules():
        if isinstance(each, (nn.BatchNorm1d, nn.BatchNorm2d)):
            each.running_mean.normal_()
            each.running_var.uniform_(0.5, 2)
            if each.affine:
                nn.init.uniform_(each.weight, -2, 2)
                nn.init.normal_(each.bias)
    return layer.eval().requires_grad_(False)


def with_norm(convolution, n, *others, **options):
    norm = nn.BatchNorm1d if isinstance(convolution, nn.Conv1d) else nn.BatchNorm2d
    return trained(nn.Sequential(convolution, norm(n, **options), *others))


LAYERS = {
    "direct": (lambda: with_norm(nn.Conv2d(4, 20, 3, stride=2), 20), (2, 4, 9, 11)),
    "at points": (lambda: with_norm(nn.Conv2d(32, 40, 3, padding=1), 40), (2, 32, 20, 24)),
    "no bias": (lambda: with_norm(nn.Conv2d(32, 32, 3, bias=False), 32), (2, 32, 20, 24)),
    "not affine": (lambda: with_norm(nn.Conv2d(4, 20, 3), 20, affine=False), (2, 4, 9, 11)),
    "groups": (lambda: with_norm(nn.Conv2d(12, 24, 3, groups=3), 24), (2, 12, 11, 10)),
    "one axis": (lambda: with_norm(nn.Conv1d(4, 20, 5), 20), (2, 4, 70)),
    "ReLU": (lambda: with_norm(nn.Conv2d(4, 20, 3), 20, nn.ReLU()), (2, 4, 9, 11)),
    "two": (
        lambda: nn.Sequential(
            with_norm(nn.Conv2d(4, 20, 3), 20, nn.ReLU()), with_norm(nn.Conv2d(20, 8, 3), 8)
        ),
        (2, 4, 9, 11),
    ),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", LAYERS)
def test_a_convolution_and_its_norm_are_one_call(name, dtype):
    make, shape = LAYERS[name]
    torch.manual_seed(0)
    layer, x = make().to(dtype), torch.randn(*shape, dtype=dtype)
    found = compiled(layer, x)
    is_close(found(x), layer(x))
    source = source_of(found.dynamo_ctx)
    assert "tg_norm_of_kernels" in source and "tg_channel_norm" not in source
    assert "maximum" not in loops_of(found)


def test_other_moments_are_those_of_the_next_call():
    torch.manual_seed(0)
    layer, x = with_norm(nn.Conv2d(4, 20, 3), 20), torch.randn(2, 4, 9, 11)
    found = compiled(layer, x)
    for _ in range(2):
        trained(layer)
        is_close(found(x), layer(x))


class Shared(nn.Module):
    """A convolution that two read."""

    def __init__(self):
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(4, 20, 3), nn.BatchNorm2d(20)

    def forward(self, x):
        y = self.convolution(x)
        return self.norm(y) + y


OTHERS = {
    "what is read twice": (lambda: trained(Shared()), (2, 4, 9, 11)),
    "transposed": (
        lambda: trained(nn.Sequential(nn.ConvTranspose2d(6, 20, 3), nn.BatchNorm2d(20))),
        (2, 6, 5, 6),
    ),
    "transposed, at points": (
        lambda: trained(nn.Sequential(nn.ConvTranspose2d(32, 32, 3), nn.BatchNorm2d(32))),
        (2, 32, 20, 24),
    ),
    "moments of the batch": (
        lambda: nn.Sequential(nn.Conv2d(4, 20, 3), nn.BatchNorm2d(20)).requires_grad_(False),
        (2, 4, 9, 11),
    ),
    "groups of channels": (
        lambda: trained(nn.Sequential(nn.Conv2d(4, 20, 3), nn.GroupNorm(2, 20))),
        (2, 4, 9, 11),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_norm_stays_as_it_is_for(name):
    make, shape = OTHERS[name]
    torch.manual_seed(0)
    layer, x = make(), torch.randn(*shape)
    found = compiled(layer, x)
    is_close(found(x), layer(x))
    assert "tg_norm_of_kernels" not in source_of(found.dynamo_ctx)


def test_gradients_of_a_layer_in_evaluation_are_those_of_eager():
    torch.manual_seed(0)
    layer = with_norm(nn.Conv2d(4, 20, 3), 20, nn.ReLU()).requires_grad_(True)

    def gradients(x):
        x = x.detach().requires_grad_(True)
        y = layer(x)
        return y, *torch.autograd.grad((y * y).sum(), [x, *layer.parameters()])

    x = torch.randn(2, 4, 9, 11)
    for a, b in zip(compiled(gradients, x)(x), gradients(x), strict=True):
        is_close(a, b)
