"""Attention: masks, rows without keys, groups of heads, the whole of multi-head attention."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises

F = torch.nn.functional
attention = F.scaled_dot_product_attention
Q = [[[[1.0, 0.0], [0.0, 1.0]]]]
V = [[[[1.0, 2.0], [3.0, 5.0]]]]


def near(got, want):
    np.testing.assert_allclose(got.detach()._array, want, rtol=1e-5, atol=1e-6)


def test_attention_gives_pytorchs_numbers():
    q, v = torch.tensor(Q), torch.tensor(V)
    near(attention(q, q, v)[0, 0], [[1.66047692, 2.99071527], [2.33952308, 4.0092845]])
    near(attention(q, q, v, is_causal=True)[0, 0], [[1.0, 2.0], [2.33952308, 4.0092845]])


def test_a_query_without_keys_gets_zeros_and_no_gradient():
    q, v = torch.tensor(Q, requires_grad=True), torch.tensor(V)
    y = attention(q, q.detach(), v, torch.tensor([[False, False], [True, True]]))
    assert y[0, 0, 0].tolist() == [0.0, 0.0]
    y.sum().backward()
    assert q.grad[0, 0, 0].tolist() == [0.0, 0.0] and q.grad[0, 0, 1].abs().sum().item() > 0


def test_one_node_and_the_composition_agree():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 5, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mask = torch.randn(5, 5, dtype=torch.float64)
    fused, parts = attention(q, k, v, mask), attention(q, k, v, mask.clone().requires_grad_())
    assert fused.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward0"
    assert parts.grad_fn.name() != fused.grad_fn.name()
    g = torch.randn_like(fused)
    for a, b in zip(
        torch.autograd.grad(fused, (q, k, v), g),
        torch.autograd.grad(parts, (q, k, v), g),
        strict=True,
    ):
        near(a, b._array)


def test_causal_attention_is_the_same_in_blocks_that_start_after_the_last_key(seed):
    inputs = [torch.randn(1, 1, n, 4, requires_grad=True) for n in (1100, 500, 500)]
    q, k, v = inputs
    later = torch.ones(1100, 500).tril() == 0
    in_blocks = attention(q, k, v, is_causal=True)  # 524 queries at a time
    at_once = (q @ k.mT / 2).masked_fill(later, -torch.inf).softmax(-1) @ v
    near(in_blocks, at_once.detach())
    g = torch.randn_like(at_once)
    slopes = [torch.autograd.grad(y, inputs, g) for y in (in_blocks, at_once)]
    for a, b in zip(*slopes, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-5)


def test_heads_of_keys_serve_groups_of_heads_of_queries():
    torch.manual_seed(0)
    q, k = torch.randn(1, 4, 3, 2), torch.randn(1, 2, 5, 2)
    repeated = k.repeat_interleave(2, 1)
    near(attention(q, k, k, enable_gqa=True), attention(q, repeated, repeated)._array)


def test_multi_head_attention_gives_pytorchs_numbers():
    torch.manual_seed(0)
    x, w, out = torch.randn(3, 1, 4), torch.randn(12, 4), torch.randn(4, 4)
    one = torch.ones(1, 1, 4)
    padding = torch.tensor([[False, True, False]])
    y, weights = F.multi_head_attention_forward(
        *(x, x, x, 4, 2, w, torch.zeros(12), one, one, True, 0.0, out, torch.zeros(4)),
        key_padding_mask=padding,
    )
    near(y[0, 0], [3.63538241, -1.83346808, -0.24342477, 0.20432919])
    near(weights[0, 0], [0.35129213, 0.0, 0.50305778, 0.03072961, 0.11492044])


def test_multi_head_attention_is_the_same_with_and_without_weights():
    torch.manual_seed(0)
    x, w, out = torch.randn(3, 2, 4), torch.randn(12, 4), torch.randn(4, 4)
    args = (x, x, x, 4, 2, w, None, None, None, False, 0.0, out, None)
    mask = torch.tensor([[False, True, True], [False, False, True], [False, False, False]])
    with_weights, weights = F.multi_head_attention_forward(*args, attn_mask=mask)
    without, none = F.multi_head_attention_forward(
        *args, attn_mask=mask, need_weights=False, is_causal=True
    )
    near(with_weights, without._array)
    assert none is None and weights.shape == (2, 3, 3)


def test_steps_in_16_bits_are_computed_in_float32():
    torch.manual_seed(0)
    wide = [torch.randn(2, 3, 4).half().float().requires_grad_() for _ in range(3)]
    narrow = [x.detach().half().requires_grad_() for x in wide]
    result, exact = attention(*narrow, scale=5.0), attention(*wide, scale=5.0)
    assert type(result.grad_fn).__name__ == "ToCopyBackward0"
    assert result.tolist() == exact.half().tolist()
    result.sum().backward()
    exact.sum().backward()
    assert [x.grad.tolist() for x in narrow] == [x.grad.half().tolist() for x in wide]


def test_what_is_refused():
    q = torch.ones(2, 3, 4, 5)
    with raises(
        RuntimeError,
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True",
    ):
        attention(q, q, q, torch.ones(4, 4).bool(), is_causal=True)
    with raises(
        RuntimeError,
        "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 3",
    ):
        attention(q, q, q, torch.ones(4, 3))
    x, w = torch.ones(3, 2, 4), torch.ones(12, 4)
    with raises(AssertionError, "embed_dim 4 not divisible by num_heads 3"):
        F.multi_head_attention_forward(
            x, x, x, 4, 3, w, None, None, None, False, 0.0, torch.ones(4, 4), None
        )


@pytest.mark.parametrize("size", [1, 30, 300])
@pytest.mark.parametrize("causal", [False, True])
def test_scores_of_any_size_give_what_wider_numbers_give(size, causal, rng):
    q, k, v, g = rng.standard_normal((4, 2, 3, 70, 8))
    k[..., -1, :] *= 4  # what a causal mask hides may be the largest
    found = []
    for dtype in (torch.float32, torch.float64):
        leaves = [torch.tensor(x, dtype=dtype, requires_grad=True) for x in (q, k, v)]
        y = F.scaled_dot_product_attention(*leaves, is_causal=causal, scale=float(size))
        y.backward(torch.tensor(g, dtype=dtype))
        found.append([y.detach(), *(x.grad for x in leaves)])
    for narrow, wide in zip(*found, strict=True):
        scale = wide.abs().max()
        assert (narrow / scale - wide / scale).abs().max() < 1e-5 * (5 + size)  # scores are rounded


def test_the_result_lies_in_memory_as_the_queries_do():
    rows = torch.randn(2, 5, 24)
    q, k, v = [x.view(2, 5, 2, 4).transpose(1, 2) for x in rows.split(8, -1)]
    for kwargs in ({}, {"is_causal": True}, {"attn_mask": torch.zeros(5, 5)}):
        y = attention(q, k, v, **kwargs)
        assert y.stride() == (40, 4, 8, 1)
        assert y.transpose(1, 2).view(2, 5, 8).shape == (2, 5, 8)
    assert attention(q.contiguous(), k, v).stride() == (40, 20, 4, 1)
    assert attention(q.permute(0, 1, 3, 2).contiguous().mT, k, v).stride() == (40, 20, 4, 1)
    merged = torch.compile(
        lambda q, k, v: attention(q, k, v).transpose(1, 2).view(2, 5, 8),
        backend="numpy",
        fullgraph=True,
    )
    for _ in range(3):
        assert torch.equal(merged(q, k, v), attention(q, k, v).transpose(1, 2).flatten(2))
