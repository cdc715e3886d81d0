"""Attention with functions of scores and masks; masks in blocks."""

import math
import re
from importlib import import_module

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.nn.attention import flex_attention as flex


def raises(error, start):
    return pytest.raises(error, match="^" + re.escape(start))


def causal(b, h, q, kv):
    return q >= kv


def steep(score, b, h, q, kv):
    return score * 2 + (q - kv) * 0.1 + h


def inputs(*shape, n=3):
    torch.manual_seed(0)
    return [torch.randn(shape) for _ in range(n)]


def dense_attention(q, k, v, score_mod=None, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if score_mod is not None:
        b, h, m, n = scores.shape
        axes = (b, 1, 1, 1), (h, 1, 1), (m, 1), (n,)
        scores = score_mod(scores, *[torch.arange(math.prod(x)).view(x) for x in axes])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1) @ v


@pytest.mark.parametrize("score_mod", [None, steep])
@pytest.mark.parametrize("masked", [False, True])
def test_values_and_gradients_are_those_of_the_scores_written_out(score_mod, masked):
    given = inputs(2, 3, 10, 8)
    mask = flex.create_block_mask(causal, None, None, 10, 10, BLOCK_SIZE=4) if masked else None
    whole = flex.create_mask(causal, None, None, 10, 10) if masked else None
    found = []
    for attend in (
        lambda *x: flex.flex_attention(*x, score_mod=score_mod, block_mask=mask),
        lambda *x: dense_attention(*x, score_mod, whole),
    ):
        leaves = [x.clone().requires_grad_() for x in given]
        out = attend(*leaves)
        out.square().sum().backward()
        found.append((out, *[x.grad for x in leaves]))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


def test_a_bias_that_the_function_looks_up_has_a_gradient():
    q, k, v = inputs(1, 2, 4, 3)
    bias = torch.zeros(2, 4, 4, requires_grad=True)
    out = flex.flex_attention(q, k, v, lambda score, b, h, i, j: score + bias[h, i, j])
    out.square().sum().backward()
    assert bias.grad.shape == bias.shape
    torch.testing.assert_close(bias.grad.sum(-1), torch.zeros(2, 4), atol=1e-6, rtol=0)
    assert bias.grad.abs().sum() > 0.1


def test_a_query_that_sees_nothing_gets_zeros_and_no_gradient():
    q, k, v = (x.requires_grad_() for x in inputs(1, 1, 3, 2))
    mask = flex.create_block_mask(lambda b, h, i, j: (i >= j) & (i > 0), 1, 1, 3, 3)
    out, aux = flex.flex_attention(q, k, v, block_mask=mask, return_aux=flex.AuxRequest(lse=True))
    assert out[0, 0, 0].tolist() == [0, 0] and aux.lse[0, 0, 0].item() == -math.inf
    out.sum().backward()
    assert q.grad[0, 0, 0].tolist() == [0, 0] and q.grad.isfinite().all()


def test_documents_in_a_row_do_not_see_each_other():
    document = torch.tensor([0, 0, 1, 1, 1])
    mask = flex.and_masks(causal, lambda b, h, i, j: document[i] == document[j])
    found = flex.create_mask(mask, None, None, 5, 5)[0, 0].int()
    assert found.tolist() == torch.block_diag(torch.ones(2, 2), torch.ones(3, 3)).tril().tolist()


def test_blocks_are_listed_by_rows_and_by_columns():
    mask = flex.create_block_mask(causal, None, None, 300, 300)
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]  # the last ones lack elements: not full
    assert mask.kv_indices[0, 0].tolist() == [[0, 1, 2], [1, 0, 2], [0, 1, 2]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]
    assert mask.q_num_blocks.tolist() == [[[2, 2, 1]]]
    assert mask.q_indices[0, 0].tolist() == [[0, 2, 1], [1, 2, 0], [2, 0, 1]]
    assert mask.full_q_indices[0, 0].tolist() == [[1, 0, 2], [0, 1, 2], [0, 1, 2]]
    assert mask.kv_indices.dtype is torch.int32
    assert (mask.shape, mask.numel(), round(mask.sparsity(), 3)) == (
        (1, 1, 300, 300),
        90000,
        -9.227,
    )
    assert len(mask.as_tuple()) == 17 and mask.as_tuple(False)[0] == (300, 300)


def test_a_mask_is_drawn():
    mask = flex.create_block_mask(causal, None, None, 300, 300)
    assert str(mask) == (
        "BlockMask(shape=(1, 1, 300, 300), sparsity=-9.23%, \n(0, 0)\n██    \n████  \n██████\n)"
    )
    assert mask.to_string((2, 2)) == "(0, 0)\n░░  \n████\n"
    mask = flex.create_block_mask(causal, 2, 3, 8, 8, BLOCK_SIZE=8)
    assert mask.to_string(limit=1) == (
        "(0, 0)\n██\n\n...\nTo print out more, set BlockMask.to_string(limit=N)\n"
        "You can also index (BlockMask[batch, head]) to choose a specific batch or head"
    )


def test_a_part_of_a_mask_keeps_its_dimensions_and_loses_its_function():
    def mask(b, h, q, kv):
        return (q >= kv) & (h < 2)

    whole = flex.create_block_mask(mask, 2, 4, 20, 10, BLOCK_SIZE=8)
    assert whole[0].shape == (1, 4, 20, 10) and whole[:, [0, 3]].shape == (2, 2, 20, 10)
    assert whole[-1].kv_num_blocks.tolist() == [[[1, 1, 2]] * 2 + [[0, 0, 0]] * 2]
    assert whole[:, 0:2, 1].kv_num_blocks.shape == (2, 2, 1)
    x = torch.ones(2, 4, 20, 3)
    with raises(RuntimeError, "Cannot use mask_mod from a sliced BlockMask. When you slice a "):
        flex.flex_attention(x, x[:, :, :10], x[:, :, :10], block_mask=whole[:1])


def test_a_mask_is_cut_for_fewer_tokens():
    mask = flex.create_block_mask(causal, 1, 1, 4, 4, BLOCK_SIZE=2)
    cut = mask._adjust(2, 4)
    assert cut.shape == (1, 1, 2, 4) and cut.to_dense().tolist() == [[[[1, 0]]]]
    assert cut.mask_mod is causal
    assert mask._adjust(2, 2).full_kv_num_blocks.tolist() == [[[0]]]


def test_masks_of_given_blocks():
    n, columns = torch.tensor([[[1, 2]]]), torch.tensor([[[[1, 0], [0, 1]]]])
    mask = flex.BlockMask.from_kv_blocks(n, columns, BLOCK_SIZE=(16, 32), mask_mod=causal)
    assert mask.seq_lengths == (32, 64) and mask.mask_mod is causal
    assert mask.to_dense().tolist() == [[[[0, 1], [1, 1]]]]
    assert mask.q_num_blocks.tolist() == [[[1, 2]]]
    assert mask.to("cpu").to_dense().equal(mask.to_dense())
    with raises(AssertionError, "full_kv_num_blocks and full_kv_indices must be both provided or"):
        flex.BlockMask.from_kv_blocks(n, columns, full_kv_num_blocks=n)


def test_heads_of_keys_serve_groups_of_queries():
    q = torch.randn(1, 4, 5, 2)
    k = torch.randn(1, 2, 5, 2)
    wide = k.repeat_interleave(2, 1)
    found = flex.flex_attention(q, k, k, enable_gqa=True)
    torch.testing.assert_close(found, dense_attention(q, wide, wide))
    with raises(ValueError, "Expect query and key/value to have the same number of heads but got "):
        flex.flex_attention(q, k, k)
    with raises(ValueError, "Expect number of query heads to be a multiple of kv heads for GQA"):
        flex.flex_attention(q[:, :3], k, k, enable_gqa=True)


def test_half_precision_computes_in_float32():
    q, k, v = (x.half() for x in inputs(1, 1, 6, 4))
    out, lse = flex._attend(q, k, v, None, None, None)
    assert (out.dtype, lse.dtype) == (torch.float16, torch.float32)
    torch.testing.assert_close(
        out.float(), dense_attention(q.float(), k.float(), v.float()), atol=1e-3, rtol=0
    )


def test_a_function_of_scores_says_a_mask_by_minus_infinity():
    def mod(score, b, h, q, kv):
        return torch.where(q >= kv, score, -math.inf)

    assert flex.create_mask(mod, None, None, 3, 3).equal(flex.create_mask(causal, None, None, 3, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: flex.create_mask(lambda b, h, q: q, None, None, 2, 2),
            AssertionError,
            "Expected 4 or 5 positional args, got 3",
        ),
        (
            lambda x: flex.create_block_mask(lambda b, h, q, kv: q - kv, 1, 1, 2, 2),
            AssertionError,
            "mask.dtype must be torch.bool, got torch.int64",
        ),
        (
            lambda x: flex.or_masks(causal, 3),
            RuntimeError,
            "All inputs should be callable mask_mods: (",
        ),
        (
            lambda x: flex.flex_attention(x[0], x[0], x[0]),
            NotImplementedError,
            "NYI: query, key, and value must be 4D tensors",
        ),
        (
            lambda x: flex.flex_attention(x, x[..., :2], x),
            ValueError,
            "Expect query and key/value to have the same embedding dimension but got E=3 and E=2",
        ),
        (
            lambda x: flex.flex_attention(x, x.to("meta"), x),
            ValueError,
            "Expected query, key, and value to have the same device type, but got query.device: "
            "cpu, key.device: meta, and value.device: cpu instead.",
        ),
        (
            lambda x: flex.flex_attention(x, x[:1], x[:1]),
            ValueError,
            "Expect query and key/value to have the same batch size, or non-none block_mask, but",
        ),
        (
            lambda x: flex.flex_attention(
                x, x, x, block_mask=flex.create_block_mask(causal, 1, 1, 3, 3)
            ),
            ValueError,
            "block_mask was created for block_mask.shape=(1, 1, 3, 3) but got q_len=4 and kv_len=4."
            " As the block mask was created for a smaller length",
        ),
        (
            lambda x: flex.flex_attention(
                x, x, x, block_mask=flex.create_block_mask(causal, 1, 1, 9, 9)
            ),
            ValueError,
            "block_mask was created for block_mask.shape=(1, 1, 9, 9) but got q_len=4 and kv_len=4."
            " As the block mask was created for a larger length",
        ),
        (
            lambda x: flex.flex_attention(x, x, x, return_lse=True, return_aux=flex.AuxRequest()),
            ValueError,
            "Cannot specify both return_lse and return_aux.",
        ),
        (
            lambda x: flex.flex_attention(x, x, x, return_aux=flex.AuxRequest(max_scores=True)),
            NotImplementedError,
            "Returning max scores is not supported on CPU/MPS.",
        ),
        (
            lambda x: flex.create_block_mask(causal, 1, 1, 3, 3, compute_dq_write_order=True),
            NotImplementedError,
            "compute_dq_write_order=True is not supported",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, message):
    with raises(error, message):
        call(torch.ones(2, 1, 4, 3))


def test_results_are_those_of_pytorch(pytorch, monkeypatch):
    theirs = import_module("torch.nn.attention.flex_attention")
    monkeypatch.setattr(theirs, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    monkeypatch.setattr(theirs, "_WARNINGS_SHOWN", {"flex_attention_performance"})
    given = inputs(1, 2, 10, 8)
    mirrored = [pytorch.from_numpy(x.numpy()) for x in given]

    def mask(b, h, q, kv):
        return (q >= kv) & (kv != 0)

    found = []
    for package, tensors in ((flex, given), (theirs, mirrored)):
        block_mask = package.create_block_mask(mask, None, None, 10, 10, BLOCK_SIZE=4)
        out, aux = package.flex_attention(
            *tensors,
            score_mod=steep,
            block_mask=block_mask,
            return_aux=package.AuxRequest(lse=True),
        )
        found.append((out.numpy(), aux.lse.numpy(), str(block_mask), repr(block_mask)))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5)
    assert found[0][2:] == found[1][2:]


DTYPES = torch.float32, torch.float16, torch.float64


def test_dtypes_may_differ_and_the_result_has_that_of_the_queries():
    q, half, double = (torch.ones(1, 2, 16, 16, dtype=d) for d in DTYPES)
    assert flex.flex_attention(half, q, q).dtype == torch.float16
    assert flex.flex_attention(q, half, q).dtype == torch.float32
    assert flex.flex_attention(q, double, double).dtype == torch.float32
