"""Batch norms folded into the layers before them."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises


@pytest.mark.parametrize("bias", [True, False])
def test_a_batch_norm_folds_into_the_layer_before_it(bias):
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(4)
    norm(3 * torch.randn(5, 4, 2, 2) + 1)
    x = torch.randn(2, 3, 6, 6)
    for conv in (nn.Conv2d(3, 4, 3, bias=bias), nn.ConvTranspose2d(3, 4, 3, bias=bias)):
        fused = nn.utils.fuse_conv_bn_eval(conv.eval(), norm.eval(), conv.transposed)
        assert torch.allclose(fused(x), norm(conv(x)), atol=1e-5)
    with raises(AssertionError, "Fusion only for eval!"):
        nn.utils.fuse_conv_bn_eval(conv.train(), norm)
