"""Multi-head attention as a layer."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import assertion_error, value_error
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.functional.mask import additive
from tapegrad.nn.linear import Linear
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.tensors.tensor import Tensor


class NonDynamicallyQuantizableLinear(Linear):
    """A linear layer; the name says that PyTorch's quantisation leaves it alone."""


class MultiheadAttention(Module):
    """Attention in several heads, with projections before and behind.

    `head_i = softmax(Q_i K_i^T / sqrt(E / heads)) V_i` with Q = W_q query + b_q, K = W_k key + b_k,
    V = W_v value + b_v cut into heads; the result is W_o of all heads side by side, plus b_o.

    Args:
        embed_dim: features of query and result, E
        num_heads: number of heads, a divisor of E
        dropout: probability with which weights of the attention are dropped in training
        bias: whether projections have biases
        add_bias_kv: whether there is one more key and value that are learned
        add_zero_attn: whether there is one more key and value of zeros
        kdim, vdim: features of key and value, E if not given
        batch_first: whether tensors are (N, L, E) and not (L, N, E)

    Shape: query (L, N, E), key (S, N, kdim), value (S, N, vdim), all without N or none; result
    (L, N, E) and, with `need_weights`, the weights (N, L, S), with `average_attn_weights=False`
    (N, num_heads, L, S). `key_padding_mask` (N, S) and `attn_mask` (L, S) or (N * num_heads, L, S)
    are True where a key is left out, or added to the scores. `is_causal` says that `attn_mask` is
    the causal one.

    Source: Vaswani et al., Attention is all you need, 2017, section 3.2.2.

    >>> attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = torch.zeros(3, 5, 8)
    >>> y, weights = attention(x, x, x)
    >>> y.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 5, 5]))
    """

    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise value_error(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead",
                "Both are counts.",
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise assertion_error(
                "embed_dim must be divisible by num_heads",
                "Each head has embed_dim / num_heads features.",
            )

        def parameter(*shape: int) -> Parameter:
            return Parameter(empty(shape, device=device, dtype=dtype))

        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = parameter(embed_dim, embed_dim)
            self.k_proj_weight = parameter(embed_dim, self.kdim)
            self.v_proj_weight = parameter(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = parameter(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        if add_bias_kv:
            self.bias_k = parameter(1, 1, embed_dim)
            self.bias_v = parameter(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Projections of the input by `xavier_uniform_`, biases 0, extra keys by `xavier_normal_`.

        Source: Glorot and Bengio, Understanding the difficulty of training deep feedforward neural
        networks, 2010.
        """
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        batched = query.dim() == 3
        key_padding_mask = additive(
            *(key_padding_mask, "key_padding_mask", query.dtype, attn_mask, "attn_mask")
        )
        attn_mask = additive(attn_mask, "attn_mask", query.dtype)
        if self.batch_first and batched:
            # what is one tensor stays one: it is projected by one product
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        result, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        if self.batch_first and batched:
            result = result.transpose(1, 0)
        return result, weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one (N, num_heads, L, S) and its kind: 0 scores, 1 padding, 2 both.

        >>> attention = torch.nn.MultiheadAttention(4, 2)
        >>> mask, kind = attention.merge_masks(torch.zeros(3, 3), None, torch.zeros(1, 3, 4))
        >>> mask.shape, kind
        (torch.Size([1, 2, 3, 3]), 2)
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(n, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(n, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            padding = key_padding_mask.view(n, 1, 1, length).expand(-1, self.num_heads, -1, -1)
            merged = merged + padding
        return merged, 2
