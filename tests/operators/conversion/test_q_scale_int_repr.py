"""Tensors that are not quantized asked how they are."""

import pytest

import tapegrad as torch

NAMES = """
int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_a_plain_tensor_is_not_quantized(name):
    for call in (getattr(torch, name), lambda x: getattr(x, name)()):
        with pytest.raises(NotImplementedError, match=f"^Could not run 'aten::{name}'"):
            call(torch.ones(3))


def test_dequantize_gives_float32():
    assert torch.ones(3, dtype=torch.int32).dequantize().dtype is torch.float32
    x = torch.ones(3)
    assert torch.dequantize(x) is x
