"""Causal masks that are not square."""

import tapegrad as torch
from tapegrad.nn.attention.bias import (
    CausalBias,
    CausalVariant,
    causal_lower_right,
    causal_upper_left,
)
from tests.messages import raises

attend = torch.nn.functional.scaled_dot_product_attention


def test_the_diagonal_begins_first_or_ends_last():
    assert causal_upper_left(2, 4)._materialize().int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0]]
    assert causal_lower_right(2, 4)._materialize().int().tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert causal_lower_right(3, 2)._materialize().int().tolist() == [[0, 0], [1, 0], [1, 1]]
    assert repr(causal_upper_left(1, 2)) == "tensor([[ True, False]])"


def test_attention_takes_the_mask():
    torch.manual_seed(0)
    q, k = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 5, 4)
    for mask in (causal_upper_left(3, 5), causal_lower_right(3, 5)):
        want = attend(q, k, k, attn_mask=mask._materialize())
        assert attend(q, k, k, mask).equal(want) and attend(q, k, k, attn_mask=mask).equal(want)


def test_other_uses_are_refused():
    mask = causal_lower_right(2, 2)
    assert isinstance(mask, torch.Tensor) and mask.variant is CausalVariant.LOWER_RIGHT
    x = torch.ones(1, 1, 2, 2)
    with raises(ValueError, "CausalBias should not be used with causal=True"):
        attend(x, x, x, mask, is_causal=True)
    with raises(NotImplementedError, "CausalBias only supports scaled_dot_product_attention"):
        torch.exp(mask)
    with raises(AssertionError, "causal_upper_left only supports 2D tensors"):
        causal_upper_left(3)
    with raises(AssertionError, "variant must be a CausalVariant, got int"):
        CausalBias(1, 2, 2)


def test_its_shape_is_known_without_its_elements():
    mask = causal_lower_right(3, 5)
    assert mask.shape == mask.size() == (2, 3, 5)
    assert (mask.dim(), mask.numel(), mask.stride()) == (3, 30, (15, 5, 1))
    assert causal_upper_left(3, 5).shape == (1, 3, 5)
