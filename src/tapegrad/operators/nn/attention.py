"""Scaled dot-product attention: averages of values, weighted by how well keys fit queries."""

import math

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Sequence, Tensor
from tapegrad.core.dtype import bool_, float32
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.registration import TENSOR_NAMESPACE
from tapegrad.core.result_order import keeping, lying_as_first
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.creation.zeros_eye import ones
from tapegrad.operators.linalg.matmul_check import c_name
from tapegrad.operators.nn.dropout import dropout
from tapegrad.operators.nn.layer_norm import real_argument


def _products(xp: Namespace, q: Array, k: int | None, scale: float) -> Any:
    return xp.matmul(q, xp.matrix_transpose(k)) * scale


def _masked(xp: Namespace, scores: Any, mask: Array) -> Any:
    if mask is None:
        return scores
    if xp.isdtype(mask.dtype, "bool"):
        return xp.where(mask, scores, -math.inf)
    return scores + mask


def safe_softmax(xp: Namespace, x: Array) -> Any:
    """Softmax along the last axis; 0 where a row is minus infinity throughout."""
    top = xp.max(x, axis=-1, keepdims=True)
    e = xp.exp(x - xp.where(top == -math.inf, 0, top))
    total = xp.sum(e, axis=-1, keepdims=True)
    return e / xp.where(total == 0, 1, total)


def _softmax_rule(xp: Namespace, g: Array, y: Array) -> Any:
    return (g - xp.sum(g * y, axis=-1, keepdims=True)) * y


@keeping
def _as_query(results: Any, operands: Sequence, params: Any = None) -> Any:
    """The first result with its axes in memory in the order of those of the queries."""
    return lying_as_first(results[0], operands), results[1]


# --- operators ---------------------------------------------------------------------------------


@jvp(x=lambda xp, t, y: _softmax_rule(xp, t, y))  # a symmetric Jacobian
@vjp(x=lambda xp, g, y: _softmax_rule(xp, g, y))
@primitive(promote="float", node="SafeSoftmaxBackward0")
def softmax_or_zero(xp, x):
    """Softmax along the last axis; 0 where a row is minus infinity throughout."""
    return safe_softmax(xp, x)


@primitive(
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    outputs=("result", "total"),
    nondiff=("total",),
    kernels=("attend", "attend_back"),
    order=_as_query,
)
def attention(xp, *inputs, scale, causal):
    """softmax(query key^T scale + mask) value, over the last two axes.

    And of each row of scores the logarithm of the sum of exponentials, from which the rules make
    the weights again. `inputs` are query, key, value and perhaps a mask, which has no gradient;
    with `causal` query i sees keys 0 to i.
    """
    return xp.attend(inputs, scale, causal)


attention.op.hidden = (3,)  # the mask is no edge of the graph
attention.vjp(
    inputs=lambda xp, g, inputs, result, total, scale, causal: xp.attend_back(
        g, inputs, result, total, scale, causal
    )
)


def _all_weights(xp: Namespace, inputs: Sequence, scale: float, causal: bool) -> Any:
    """softmax(query key^T scale + mask), all of it at once."""
    query, key, _, *masks = inputs
    scores = _masked(xp, _products(xp, query, key, scale), masks[0] if masks else None)
    if causal:
        later = xp.triu(xp.ones_like(scores), k=1) > 0
        scores = xp.where(later, -math.inf, scores)
    return safe_softmax(xp, scores)


def _tangent(xp, t, inputs, scale, causal):
    query, key, value = inputs[:3]
    change = _products(xp, t[0], key, scale) + _products(xp, query, t[1], scale)
    weights = _all_weights(xp, inputs, scale, causal)
    return xp.matmul(_softmax_rule(xp, change, weights), value) + xp.matmul(weights, t[2])


attention.jvp(inputs=_tangent)


# --- the kernel on tensors, for derivatives of derivatives ---------------------------------------


@tensor_kernel
def attend_back(
    g: Array, inputs: Sequence, y: Array, total: Any, scale: float, causal: bool
) -> list:
    xp = TENSOR_NAMESPACE()
    query, key, value, *masks = inputs
    weights = _all_weights(xp, inputs, scale, causal)
    slopes = _softmax_rule(xp, xp.matmul(g, xp.matrix_transpose(value)), weights) * scale
    return [
        xp.matmul(slopes, key),
        xp.matmul(xp.matrix_transpose(slopes), query),
        xp.matmul(xp.matrix_transpose(weights), g),
        *[None for _ in masks],
    ]


# --- the public function ---------------------------------------------------------------------


def _check(query: Any, key: Any, value: Any, mask: Tensor, is_causal: bool) -> None:
    name = "scaled_dot_product_attention"
    errors.need_tensors(name, query=query, key=key, value=value)
    if query.dtype is not key.dtype or query.dtype is not value.dtype:
        raise errors.runtime_error(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{c_name(query)} key.dtype: {c_name(key)} and value.dtype: {c_name(value)} "
            "instead.",
            "Convert them to one dtype.",
        )
    if query.ndim < 2 or key.ndim < 2 or value.ndim < 2:
        raise errors.runtime_error(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {query.ndim} key.dim: {key.ndim} and value.dim: {value.ndim} instead.",
            "They have shape (..., length, features).",
        )
    if mask is not None:
        if mask.dtype.name not in ("bool", "float32") and mask.dtype is not query.dtype:
            raise errors.runtime_error(
                "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"attn_mask.dtype: {c_name(mask)} and  query.dtype: {c_name(query)} instead.",
                "A mask is bool (True: takes part), or is added to the scores.",
            )
        if is_causal:
            text = f"_{name}: Explicit attn_mask should not be set when is_causal=True"
            advice = "Put the causal mask into attn_mask, or leave attn_mask away."
            raise errors.runtime_error(text, advice)
    if not query.dtype.is_floating_point:
        if query.dtype.is_complex:
            raise errors.not_implemented(
                f"\"softmax_lastdim_kernel_impl\" not implemented for '{query.dtype.scalar_name}'",
                "Attention is of real numbers.",
            )
        text = f"expected scalar type Float but found {query.dtype.scalar_name}"
        raise errors.runtime_error(text, "Convert the tensors first: query.float().")


def _repeated_heads(query: Any, x: Tensor) -> Any:
    """`x` (..., heads, S, E) with each head repeated for the group of queries it serves."""
    n, groups = query.shape[-3], x.shape[-3]
    if not groups or n % groups:
        raise errors.runtime_error(
            "Number of heads in key and value must divide the number of heads in "
            "\nquery, but got them as: "
            f"query: {n}, key or value: {groups}",
            "enable_gqa gives each head of the keys a group of heads of the queries.",
        )
    return x.repeat_interleave(n // groups, -3)


ALLOWED = dict.fromkeys(("flash", "efficient", "math", "cudnn", "overrideable"), True)
"""What a program allows. There are "flash", one operator, and "math", its steps."""


def _broadcasts(query: Any, key: Any, mask: Tensor) -> bool:
    scores = (*query.shape[:3], key.shape[2])
    sizes = mask.shape
    return len(sizes) <= 4 and all(
        n in (1, m) for n, m in zip(reversed(sizes), reversed(scores), strict=False)
    )


def _fits_one_operator(query: Any, key: Any, value: Any, mask: Tensor, dropout_p: float) -> bool:
    """Whether the whole is one node, as in PyTorch: four axes, alike, a mask without history.

    On the meta device it never is, nor where `sdpa_kernel` allows single steps alone.
    """
    return (
        query.ndim == 4
        and ALLOWED["flash"]
        and type(query._array) is not MetaArray
        and dropout_p == 0
        and (mask is None or (not mask.requires_grad and _broadcasts(query, key, mask)))
        and query.shape[:2] == key.shape[:2] == value.shape[:2]
        and query.shape[3] == key.shape[3] == value.shape[3]
        and key.shape[2] == value.shape[2]
        and query.stride(3) == key.stride(3) == value.stride(3) == 1
        and query.numel() > 0
        and key.numel() > 0
    )


@autocast
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query key^T scale + mask) value: for each query an average of the values.

    Shapes: query (..., L, E), key (..., S, E), value (..., S, V); result (..., L, V). `attn_mask`
    (..., L, S) is True where a key takes part, or a number that is added to the score; `is_causal`
    lets query i see keys 0 to i. `scale` is 1 / sqrt(E) if not given. Weights are dropped with
    probability `dropout_p`. With `enable_gqa` heads of keys serve groups of heads of queries.

    Source: Vaswani et al., "Attention Is All You Need", 2017, eq. 1.

    >>> x = torch.eye(2).view(1, 1, 2, 2)
    >>> torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
    tensor([[[[1.0000, 0.0000],
              [0.3302, 0.6698]]]])
    """
    _check(query, key, value, attn_mask, is_causal)
    dropout_p = real_argument("scaled_dot_product_attention", "dropout_p", 5, dropout_p)
    if enable_gqa and query.ndim > 2:
        key, value = _repeated_heads(query, key), _repeated_heads(query, value)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    if _fits_one_operator(query, key, value, attn_mask, dropout_p):
        masks = () if attn_mask is None else (attn_mask,)
        return attention(query, key, value, *masks, scale=scale, causal=bool(is_causal))[0]
    if not ALLOWED["math"]:
        raise errors.runtime_error(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to "
            "turning off both the math kernel and the fused kernels.",
            "torch.backends.cuda.enable_math_sdp(True) allows it for whatever is given.",
        )
    dtype = query.dtype
    if dtype.itemsize == 2:  # the steps are computed, and differentiated, in float32
        query, key, value = query.to(float32), key.to(float32), value.to(float32)
    if is_causal:
        seen = ones(query.shape[-2], key.shape[-2], dtype=bool_, device=query.device)
        attn_mask = seen.tril()
    scale = float(scale)
    root = math.sqrt(abs(scale))
    scores = (query * math.copysign(root, scale)) @ (key.transpose(-2, -1) * root)
    if attn_mask is not None:
        if attn_mask.dtype.name == "bool":
            zero = attn_mask.new_zeros((), dtype=scores.dtype)
            attn_mask = zero.masked_fill(~attn_mask, -math.inf)
        scores = scores + attn_mask
    weights = softmax_or_zero(scores) if scores.shape[-1] else scores
    if dropout_p != 0:
        weights = dropout(weights, dropout_p, True)
    result = weights @ value
    return result if result.dtype is dtype else result.to(dtype)
