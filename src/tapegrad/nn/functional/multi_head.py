"""Multi-head attention: projections, attention in each head, and a projection of what it gives."""

import math

from tapegrad.core.annotations import DTypeLike
from tapegrad.core.argument_check import users_level
from tapegrad.core.errors import assertion_error, runtime_error, warn
from tapegrad.core.overridable import overridable
from tapegrad.nn.functional.dropout import dropout
from tapegrad.operators.linalg.linear import linear
from tapegrad.operators.nn import attention
from tapegrad.operators.nn.softmax import softmax
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.tensors.tensor import Tensor

__all__ = ["multi_head_attention_forward"]


def additive(
    mask: Tensor | None,
    name: str,
    dtype: DTypeLike,
    other: Tensor | None = None,
    other_name: str = "",
) -> Tensor | None:
    """A mask that is added to scores: 0, and minus infinity where a boolean one is true.

    Warns if `other`, a mask of the same call, has another dtype.
    """
    if mask is None:
        return None
    is_bool = mask.dtype.name == "bool"
    if not (is_bool or mask.dtype.is_floating_point):
        raise assertion_error(
            f"only bool and floating types of {name} are supported",
            "Masks are bool (True: left out), or numbers that are added to the scores.",
        )
    if other is not None and other.dtype is not mask.dtype:
        warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both "
            "instead.",
            users_level(),
        )
    if not is_bool:
        return mask
    return mask.new_zeros(mask.shape, dtype=dtype).masked_fill_(mask, -math.inf)


def _require(holds: bool, text: str, advice: str) -> None:
    if not holds:
        raise assertion_error(text, advice)


def _check_dimensions(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether the inputs are a batch: (L, N, E) and not (L, E)."""
    n = query.dim()
    advice = "query, key and value are (L, N, E), (S, N, E), (S, N, E), all without N or none."
    _require(
        n in (2, 3),
        f"query should be unbatched 2D or batched 3D tensor but received {n}-D query tensor",
        advice,
    )
    how = "batched (3-D)" if n == 3 else "unbatched (2-D)"
    _require(
        key.dim() == n and value.dim() == n,
        f"For {how} `query`, expected `key` and `value` to be {n}-D but found {key.dim()}-D and "
        f"{value.dim()}-D tensors respectively",
        advice,
    )
    if key_padding_mask is not None:
        _require(
            key_padding_mask.dim() == n - 1,
            f"For {how} `query`, expected `key_padding_mask` to be `None` or {n - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead",
            "key_padding_mask is (N, S), or (S) without a batch.",
        )
    if attn_mask is not None:
        _require(
            attn_mask.dim() in (2, 3),
            f"For {how} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.dim()}-D tensor instead",
            "attn_mask is (L, S) or (N * num_heads, L, S).",
        )
        if n == 2 and attn_mask.dim() == 3:
            want = (num_heads, query.shape[0], key.shape[0])
            _require(
                tuple(attn_mask.shape) == want,
                f"Expected `attn_mask` shape to be {want} but got {attn_mask.shape}",
                "attn_mask is (L, S) or (num_heads, L, S).",
            )
    return n == 3


def _project(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple:
    """Queries, keys and values by one weight (3E, E); one product for what is one tensor."""
    n = query.size(-1)
    if key is value:
        if query is key:
            joint = linear(query, weight, bias)
            # (L, N, 3E) -> (3, L, N, E)
            joint = joint.unflatten(-1, (3, n)).unsqueeze(0).transpose(0, -2).squeeze(-2)
            return tuple(joint.contiguous().unbind(0))
        weights = weight.split([n, 2 * n])
        biases = (None, None) if bias is None else bias.split([n, 2 * n])
        joint = linear(key, weights[1], biases[1])
        joint = joint.unflatten(-1, (2, n)).unsqueeze(0).transpose(0, -2).squeeze(-2)
        return (linear(query, weights[0], biases[0]), *joint.contiguous().unbind(0))
    weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(map(linear, (query, key, value), weights, biases))


def _project_apart(
    query: Tensor, key: Tensor, value: Tensor, weights: tuple, bias: Tensor | None
) -> tuple:
    """Queries, keys and values by a weight each: (E, E), (E, E_k), (E, E_v)."""
    n = query.size(-1)
    for name, x, weight in zip(
        ("query", "key", "value"), (query, key, value), weights, strict=True
    ):
        letter = name[0]
        _require(
            weight is not None,
            f"use_separate_proj_weight is True but {letter}_proj_weight is None",
            f"Pass {letter}_proj_weight, or in_proj_weight without use_separate_proj_weight.",
        )
        want = (n, x.size(-1))
        _require(
            tuple(weight.shape) == want,
            f"expecting {name} weights shape of {want}, but got {weight.shape}",
            f"{letter}_proj_weight is (E, size of the last dimension of {name}).",
        )
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(map(linear, (query, key, value), weights, biases))


def _projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor | None,
    apart: tuple | None,
    bias: Tensor | None,
) -> tuple:
    """Queries, keys and values, by one weight, or by the three of `apart`."""
    if apart is not None:
        _require(
            key.shape[:2] == value.shape[:2],
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
            "There is one value for each key.",
        )
        return _project_apart(query, key, value, apart, bias)
    _require(
        key.shape == value.shape,
        f"key shape {key.shape} does not match value shape {value.shape}",
        "There is one value for each key; for other sizes use separate weights.",
    )
    _require(
        weight is not None,
        "use_separate_proj_weight is False but in_proj_weight is None",
        "Pass in_proj_weight.",
    )
    return _project(query, key, value, weight, bias)  # type: ignore[arg-type]


def _longer(mask: Tensor | None) -> Tensor | None:
    """A mask that lets one more key take part."""
    if mask is None:
        return None
    return cat((mask, mask.new_zeros((*mask.shape[:-1], 1))), -1)


def _in_heads(name: str, x: Tensor, static: Tensor | None, n_heads: int, head_dim: int) -> Tensor:
    """Keys or values (S, N, E) as (N * heads, S, E / heads); or those that are given so."""
    if static is None:
        return x.reshape(x.shape[0], n_heads, head_dim).transpose(0, 1)
    for axis, want in ((0, n_heads), (2, head_dim)):
        _require(
            static.size(axis) == want,
            f"expecting {name}.size({axis}) of {want}, but got {static.size(axis)}",
            f"{name} is (N * num_heads, S, E / num_heads).",
        )
    return static


@overridable
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention in `num_heads` heads of size E / num_heads, and its weights or None.

    query is (L, N, E), key and value are (S, N, E), or all three without N. `in_proj_weight`
    (3E, E) makes queries, keys and values of them, `out_proj_weight` (E, E) the result (L, N, E) of
    what the heads give. A boolean mask is True where a key is left out: `key_padding_mask` (N, S),
    `attn_mask` (L, S) or (N * num_heads, L, S); other masks are added to the scores. `bias_k` and
    `bias_v` (1, 1, E) are one more key and value, `add_zero_attn` another of zeros; `static_k` and
    `static_v` (N * num_heads, S, E / num_heads) stand for the projected ones. The weights are
    (N, L, S), averaged over the heads, or with `average_attn_weights=False` (N, num_heads, L, S).

    Shapes: a pair of (L, N, E) and (N, L, S), or of (L, E) and (L, S).
    Raises: AssertionError where `num_heads` does not divide E; RuntimeError for a wrong mask.

    Source: Vaswani et al., Attention is all you need, 2017, section 3.2.2.

    >>> x, eye = torch.ones(3, 1, 2), torch.eye(2)
    >>> attention = torch.nn.functional.multi_head_attention_forward
    >>> w = torch.cat([eye, eye, eye])
    >>> y, weights = attention(x, x, x, 2, 1, w, None, None, None, False, 0.0, eye, None)
    >>> y.shape, weights[0, 0]
    (torch.Size([3, 1, 2]), tensor([0.3333, 0.3333, 0.3333]))
    """
    batched = _check_dimensions(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        same_key, same_value = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same_key else key.unsqueeze(1)
        value = key if same_value else value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, n, size = query.shape
    key_padding_mask = additive(
        *(key_padding_mask, "key_padding_mask", query.dtype, attn_mask, "attn_mask")
    )
    if is_causal and attn_mask is None:
        raise runtime_error(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer "
            "module method `generate_square_subsequent_mask` to create this mask.",
            "is_causal only says that attn_mask is causal.",
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = additive(attn_mask, "attn_mask", query.dtype)
        if key_padding_mask is not None:
            is_causal = False
    _require(
        size == embed_dim_to_check,
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}",
        "The last dimension of query is embed_dim.",
    )
    head_dim = size // num_heads
    _require(
        head_dim * num_heads == size,
        f"embed_dim {size} not divisible by num_heads {num_heads}",
        "Choose a number of heads that divides embed_dim.",
    )
    apart = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _projected(query, key, value, in_proj_weight, apart, in_proj_bias)
    attn_mask = _shaped_mask(attn_mask, length, key.shape[0], n * num_heads)
    if bias_k is not None and bias_v is not None:
        _require(static_k is None, "bias cannot be added to static key.", "Leave bias_k away.")
        _require(static_v is None, "bias cannot be added to static value.", "Leave bias_v away.")
        k, v = cat((k, bias_k.repeat(1, n, 1))), cat((v, bias_v.repeat(1, n, 1)))
        attn_mask, key_padding_mask = _longer(attn_mask), _longer(key_padding_mask)
    else:
        _require(bias_k is None, "bias_k is set but bias_v is None", "Pass both or neither.")
        _require(bias_v is None, "bias_v is set but bias_k is None", "Pass both or neither.")
    # (L, N, E) -> (N * heads, L, E / heads)
    q = q.view(length, n * num_heads, head_dim).transpose(0, 1)
    k = _in_heads("static_k", k, static_k, n * num_heads, head_dim)
    v = _in_heads("static_v", v, static_v, n * num_heads, head_dim)
    if add_zero_attn:
        k, v = (cat((x, x.new_zeros((n * num_heads, 1, head_dim))), 1) for x in (k, v))
        attn_mask, key_padding_mask = _longer(attn_mask), _longer(key_padding_mask)
    n_keys = k.size(1)
    if key_padding_mask is not None:
        attn_mask = _with_padding(attn_mask, key_padding_mask, n, num_heads, n_keys)
    if not training:
        dropout_p = 0.0
    found = None
    if need_weights:
        found, result = _attend(q, k, v, attn_mask, dropout_p)
        found = found.view(n, num_heads, length, n_keys)
        if average_attn_weights:
            found = found.mean(1)
        result = result.transpose(0, 1)
    else:
        result = _attend_at_once(q, k, v, attn_mask, dropout_p, n, num_heads, is_causal)
    result = result.contiguous().view(length * n, size)
    result = linear(result, out_proj_weight, out_proj_bias)
    result = result.view(length, n, result.size(1))
    if not batched:
        result = result.squeeze(1)
        found = None if found is None else found.squeeze(0)
    return result, found


def _shaped_mask(mask: Tensor | None, length: int, n_keys: int, n_heads: int) -> Tensor | None:
    """A mask of shape (1, L, S) or (N * num_heads, L, S)."""
    if mask is None:
        return None
    want = (length, n_keys) if mask.dim() == 2 else (n_heads, length, n_keys)
    if tuple(mask.shape) != want:
        raise runtime_error(
            f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {want}.",
            "attn_mask is (L, S) or (N * num_heads, L, S).",
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _with_padding(
    mask: Tensor | None, padding: Tensor, n: int, num_heads: int, n_keys: int
) -> Tensor:
    """The mask of keys that are padding, added to that of the scores (N * num_heads, ..., S)."""
    for axis, want in ((0, n), (1, n_keys)):
        _require(
            padding.shape[axis] == want,
            f"Expected key_padded_mask.shape[{axis}] to be {want}, but got {padding.shape[axis]}",
            "key_padding_mask is (N, S).",
        )
    padding = padding.view(n, 1, 1, n_keys).expand(-1, num_heads, -1, -1)
    padding = padding.reshape(n * num_heads, 1, n_keys)
    return padding if mask is None else mask + padding


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float) -> tuple:
    """Weights (N * heads, L, S) and what they make of the values."""
    scaled = q * math.sqrt(1.0 / q.shape[2])
    if mask is None:
        scores = scaled.bmm(k.transpose(-2, -1))
    else:
        scores = mask.baddbmm(scaled, k.transpose(-2, -1))
    weights = softmax(scores, -1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return weights, weights.bmm(v)


def _attend_at_once(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    n: int,
    num_heads: int,
    is_causal: bool,
) -> Tensor:
    """What attention makes of the values, without its weights: (L, N, heads, E / heads)."""
    # (N * heads, L, E / heads) -> (N, heads, L, E / heads)
    q, k, v = (x.view(n, num_heads, *x.shape[1:]) for x in (q, k, v))
    if mask is not None:
        shared = mask.size(0) == 1 and mask.dim() == 3
        mask = mask.unsqueeze(0) if shared else mask.view(n, num_heads, -1, k.shape[2])
    causal = is_causal and mask is None
    result = attention.scaled_dot_product_attention(q, k, v, mask, dropout_p, causal)
    return result.permute(2, 0, 1, 3)
