"""Attention whose scores and mask a function says, element by element: `flex_attention`.

PyTorch compiles that function into a kernel; here it is mapped over all scores at once.
"""

import math
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, NamedTuple, TypedDict

import tapegrad
from tapegrad.core.errors import (
    assertion_error,
    deprecated,
    not_implemented,
    runtime_error,
    value_error,
)
from tapegrad.nn.attention.block_mask import BlockMask, noop_mask, ordered

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask",
    "create_mask", "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip

_DEFAULT_SPARSE_BLOCK_SIZE = 128
_LARGE_SPARSE_BLOCK_SIZE = 1 << 30
_mask_mod_signature = Callable[[Any, Any, Any, Any], Any]
_score_mod_signature = Callable[[Any, Any, Any, Any, Any], Any]


class AuxRequest(NamedTuple):
    """What `flex_attention` gives beside its result.

    >>> torch.nn.attention.flex_attention.AuxRequest(lse=True)
    AuxRequest(lse=True, max_scores=False)
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What `flex_attention` gave beside its result: logsumexp of the scores of each query.

    >>> torch.nn.attention.flex_attention.AuxOutput()
    AuxOutput(lse=None, max_scores=None)
    """

    lse: Any = None
    max_scores: Any = None


class FlexKernelOptions(TypedDict, total=False):
    """Options of PyTorch's kernels; nothing depends on them here.

    >>> torch.nn.attention.flex_attention.FlexKernelOptions(BLOCK_M=64)
    {'BLOCK_M': 64}
    """

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    kpack: int
    matrix_instr_nonkdim: int
    waves_per_eu: int
    BACKEND: str


# --- masks ---------------------------------------------------------------------------------------


def _joined(name: str, join: Callable, start: bool, mask_mods: tuple) -> Callable:
    if not all(callable(each) for each in mask_mods):
        text = f"All inputs should be callable mask_mods: {mask_mods}"
        raise runtime_error(text, "Pass functions of b, h, q and kv.")

    def joined(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        result = b.new_full((), start, dtype=tapegrad.bool)
        for each in mask_mods:
            result = join(result, each(b, h, q_idx, kv_idx))
        return result

    joined.__name__ = name
    return joined


def or_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """A mask that shows what any of these shows.

    >>> from tapegrad.nn.attention import flex_attention as flex
    >>> mask = flex.or_masks(lambda b, h, q, kv: q >= kv, lambda b, h, q, kv: kv == 2)
    >>> flex.create_mask(mask, None, None, 1, 4)
    tensor([[[[ True, False,  True, False]]]])
    """
    return _joined("or_mask", lambda a, b: a | b, False, mask_mods)


def and_masks(*mask_mods: _mask_mod_signature) -> _mask_mod_signature:
    """A mask that shows what all of these show.

    >>> from tapegrad.nn.attention import flex_attention as flex
    >>> mask = flex.and_masks(lambda b, h, q, kv: q >= kv, lambda b, h, q, kv: kv > 0)
    >>> flex.create_mask(mask, None, None, 3, 3)
    tensor([[[[False, False, False],
              [False,  True, False],
              [False,  True,  True]]]])
    """
    return _joined("and_mask", lambda a, b: a & b, True, mask_mods)


def _n_arguments(function: Callable) -> int:
    """4 for a function that says a mask, 5 for one that changes scores."""
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    parameters = signature(function).parameters.values()
    n = len([p for p in parameters if p.kind in kinds and p.default is Parameter.empty])
    if n not in (4, 5):
        text = f"Expected 4 or 5 positional args, got {n}"
        raise assertion_error(text, "A mask takes b, h, q, kv; a score comes before them.")
    return n


def _mapped(function: Callable, before: tuple = ()) -> Callable:
    """`function` for every batch, head, query and key: of scores (B, H, Q, KV) and four ranges."""
    dims: tuple = (None, None, None, 0), (None, None, 0, None), (None, 0, None, None)
    for each in (*dims, (0, None, None, None)):
        function = tapegrad.func.vmap(function, in_dims=(*before, *each))
    return function


def _ranges(sizes: Any, device: Any) -> list:
    return [tapegrad.arange(n, device=device) for n in sizes]


def create_mask(
    mod_fn: _score_mod_signature | _mask_mod_signature,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
) -> Any:
    """What `mod_fn` says of every pair of query and key: (B, H, Q_LEN, KV_LEN).

    A function of scores gives a mask that is False where it makes a score of 0 minus infinity.

    >>> from tapegrad.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, kv: q >= kv, None, None, 2, 2)
    tensor([[[[ True, False],
              [ True,  True]]]])
    """
    sizes = (B or 1, H or 1, Q_LEN, KV_LEN)
    where = device or "cpu"
    if _n_arguments(mod_fn) == 4:
        return _mapped(mod_fn)(*_ranges(sizes, where))
    scores = _mapped(mod_fn, (0,))(tapegrad.zeros(sizes, device=where), *_ranges(sizes, where))
    return ~scores.isneginf()


def create_block_mask(
    mask_mod: _mask_mod_signature,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """The mask that `mask_mod(b, h, q, kv)` says, in blocks.

    Args:
        mask_mod: True where query `q` sees key `kv`
        B, H: batches and heads; None where the mask is the same for all
        Q_LEN, KV_LEN: numbers of queries and keys
        BLOCK_SIZE: queries and keys in a block
        separate_full_blocks: whether blocks seen whole are listed apart from those seen in part

    >>> from tapegrad.nn.attention.flex_attention import create_block_mask
    >>> create_block_mask(lambda b, h, q, kv: q >= kv, 1, 1, 256, 256).to_dense()
    tensor([[[[1, 0],
              [1, 1]]]], dtype=torch.int32)
    """
    if compute_dq_write_order:
        text = "compute_dq_write_order=True is not supported: it orders writes of a kernel on GPUs"
        raise not_implemented(text, "Leave it away: gradients do not depend on it.")
    _n_arguments(mask_mod)
    size: Any = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    if mask.dtype is not tapegrad.bool:
        text = f"mask.dtype must be torch.bool, got {mask.dtype}"
        raise assertion_error(text, "The function says True or False.")
    more = (0, -KV_LEN % size[1], 0, -Q_LEN % size[0])
    mask = tapegrad.nn.functional.pad(mask, more, value=False)
    cells = mask.unflatten(3, (-1, size[1])).unflatten(2, (-1, size[0]))
    seen = cells.sum((3, 5))  # (B, H, rows, columns)
    full = seen == size[0] * size[1] if separate_full_blocks else tapegrad.zeros_like(seen)
    parts: Any = ordered(((seen > 0) & (full == 0)).to(tapegrad.int8))
    if separate_full_blocks:
        parts += ordered(full.to(tapegrad.int8))
    if not separate_full_blocks:
        parts += [None, None]
    return BlockMask.from_kv_blocks(*(*parts, size, mask_mod, (Q_LEN, KV_LEN)))


def _create_empty_block_mask(query: Any, key: Any) -> BlockMask:
    """The mask of one block that shows all."""
    n = tapegrad.ones(1, 1, 1, dtype=tapegrad.int32, device=query.device)
    indices = tapegrad.zeros(1, 1, 1, 1, dtype=tapegrad.int32, device=query.device)
    return BlockMask.from_kv_blocks(
        n, indices, BLOCK_SIZE=_LARGE_SPARSE_BLOCK_SIZE, seq_lengths=(1, 1)
    )


# --- attention -----------------------------------------------------------------------------------


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: _score_mod_signature | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """softmax(score_mod(query key^T scale)) value, over the keys that `block_mask` shows.

    Shapes: query (B, Hq, L, E), key (B, Hkv, S, E), value (B, Hkv, S, V); result (B, Hq, L, V).
    A query that sees no key gets zeros. Gradients flow, on the CPU, too, where PyTorch has none.

    Args:
        score_mod: a score from (score, b, h, q, kv), for each of them a tensor without dimensions
        block_mask: which keys a query sees, by its `mask_mod`
        scale: 1 / sqrt(E) if not given
        enable_gqa: heads of keys serve groups of heads of queries
        return_lse: give the logsumexp of each query's scores, too (B, Hq, L)
        kernel_options: taken for PyTorch's sake
        return_aux: what else to give, as an `AuxOutput`

    Raises: ValueError for sizes that do not fit.
    Source: Dong et al., "Flex Attention", 2024.

    >>> from tapegrad.nn.attention.flex_attention import flex_attention
    >>> x = torch.eye(2).view(1, 1, 2, 2)
    >>> flex_attention(x, x, x, score_mod=lambda score, b, h, q, kv: score - (q - kv).abs())
    tensor([[[[0.8465, 0.1535],
              [0.1535, 0.8465]]]])
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise value_error(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead.",
            "One of them is enough.",
        )
    if return_lse:
        deprecated(
            "return_lse is deprecated and will be removed in v2.10. Please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    if return_aux is not None and return_aux.max_scores:
        text = "Returning max scores is not supported on CPU/MPS."
        raise not_implemented(text, "Compute them: (query @ key.mT * scale).amax(-1).")
    out, lse = _attend(query, key, value, score_mod, block_mask, scale)
    if return_aux is not None:
        return out, AuxOutput(lse=lse if return_aux.lse else None)
    return (out, lse) if return_lse else out


def _attend(
    query: Any, key: Any, value: Any, score_mod: Any, block_mask: Any, scale: float | None
) -> tuple:
    """The result in the dtype of `query`, and logsumexp; numbers of 16 bits compute in 32."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    wide = tapegrad.float64 if query.dtype is tapegrad.float64 else tapegrad.float32
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    scores = query.to(wide) @ key.to(wide).transpose(-2, -1) * scale  # (B, H, L, S)
    ranges = _ranges(scores.shape, query.device)
    if score_mod is not None:
        scores = _mapped(score_mod, (0,))(scores, *ranges)
    if block_mask is not None:
        seen = _mapped(block_mask.mask_mod)(*ranges)
        scores = scores.masked_fill(~seen, -math.inf)
    lse = scores.logsumexp(-1)
    blind = lse == -math.inf
    weights = (scores - lse.masked_fill(blind, 0)[..., None]).exp()
    return (weights.to(value.dtype) @ value).to(query.dtype), lse


def _check(query: Any, key: Any, value: Any, block_mask: Any, enable_gqa: bool) -> None:
    if not query.dim() == key.dim() == value.dim() == 4:
        text = "NYI: query, key, and value must be 4D tensors"
        raise not_implemented(text, "(batch, heads, tokens, features).")
    if not query.device.type == key.device.type == value.device.type:
        raise value_error(
            "Expected query, key, and value to have the same device type, but got query.device: "
            f"{query.device}, key.device: {key.device}, and value.device: {value.device} instead.",
            "Move them to one device.",
        )
    if query.shape[-1] != key.shape[-1]:
        raise value_error(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}.",
            "Scores are inner products of the two.",
        )
    batches, heads = (query.shape[0], key.shape[0]), (query.shape[1], key.shape[1])
    if batches[0] != batches[1] and (block_mask is None or batches[1] != 1):
        raise value_error(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but "
            f"got {block_mask=}, Bq={batches[0]}, and Bkv={batches[1]}.",
            "Expand the smaller one.",
        )
    if heads[0] != heads[1] and not enable_gqa:
        raise value_error(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={heads[0]} and Hkv={heads[1]}. Try setting enable_gqa=True for GQA.",
            "Heads of keys then serve groups of heads of queries.",
        )
    if heads[0] % heads[1]:
        raise value_error(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={heads[0]} and Hkv={heads[1]}.",
            "Groups have the same size.",
        )
    if block_mask is not None:
        _check_lengths(block_mask, query.shape[-2], key.shape[-2])


def _check_lengths(block_mask: BlockMask, q_len: int, kv_len: int) -> None:
    if block_mask.BLOCK_SIZE[0] == _LARGE_SPARSE_BLOCK_SIZE:
        return
    of_mask = block_mask.shape[-2:]
    if of_mask == (q_len, kv_len):
        return
    start = f"block_mask was created for block_mask.shape={block_mask.shape} but got "
    start += f"q_len={q_len} and kv_len={kv_len}. "
    if q_len > of_mask[0] or kv_len > of_mask[1]:
        raise value_error(
            f"{start}As the block mask was created for a smaller length than you're using it for, "
            "you likely need to create a new block mask.",
            "create_block_mask(mask_mod, B, H, q_len, kv_len)",
        )
    raise value_error(
        f"{start}As the block mask was created for a larger length than you're using it for, you "
        "can either 1. create a new block mask with the correct length, or 2. 'adjust' the "
        "existing block mask to the correct length by calling "
        "block_mask._adjust(q_len, kv_len). This essentially 'crops' the block mask to the upper "
        "left corner, which does not work for all mask_mods!",
        "create_block_mask(mask_mod, B, H, q_len, kv_len)",
    )
