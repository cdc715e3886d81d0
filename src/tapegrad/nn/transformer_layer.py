"""Layers of transformers: attention and a network of two linear layers, each with a shortcut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.core.errors import runtime_error
from tapegrad.nn import functional as F
from tapegrad.nn.activation import GELU, ReLU
from tapegrad.nn.dropout import Dropout
from tapegrad.nn.functional.mask import additive
from tapegrad.nn.layer_norm import LayerNorm
from tapegrad.nn.linear import Linear
from tapegrad.nn.module import Module
from tapegrad.nn.multi_head_attention import MultiheadAttention
from tapegrad.tensors.tensor import Tensor


def _function(activation: Any) -> Any:
    """The function of a name; a function as it is."""
    if not isinstance(activation, str):
        return activation
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise runtime_error(
        f"activation should be relu/gelu, not {activation}",
        "Any function of a tensor may be given, as a function.",
    )


class TransformerEncoderLayer(Module):
    """Attention of a sequence to itself, then a network for each place.

        x = norm1(x + attention(x)),  x = norm2(x + linear2(activation(linear1(x))))

    or with `norm_first`

        x = x + attention(norm1(x)),  x = x + linear2(activation(linear1(norm2(x))))

    Args:
        d_model: features, E
        nhead: heads of the attention
        dim_feedforward: features between the two linear layers
        dropout: probability of dropout, behind the attention, the activation and linear2, and of
            the attention's weights
        activation: "relu", "gelu" or a function
        layer_norm_eps: eps of the normalisations
        batch_first: whether tensors are (N, L, E) and not (L, N, E)
        norm_first: whether to normalise before and not behind
        bias: whether linear layers and normalisations have biases

    Shape: (L, N, E) or (L, E), also the result. `src_mask` (L, L) and `src_key_padding_mask` (N, L)
    are as in `torch.nn.MultiheadAttention`; `is_causal` says that `src_mask` is the causal one.

    Source: Vaswani et al., Attention is all you need, 2017, section 3.1.

    >>> layer = torch.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(torch.zeros(5, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **place
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        function = _function(activation)
        if function is F.relu or isinstance(function, ReLU):
            self.activation_relu_or_gelu = 1
        elif function is F.gelu or isinstance(function, GELU):
            self.activation_relu_or_gelu = 2
        else:
            self.activation_relu_or_gelu = 0
        self.activation = function

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        padding = additive(
            *(src_key_padding_mask, "src_key_padding_mask", src.dtype, src_mask, "src_mask")
        )
        mask = additive(src_mask, "src_mask", src.dtype)
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(
        self, x: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        """Attention to itself."""
        x = self.self_attn(
            *(x, x, x),
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )[0]
        return self.dropout1(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        """The network for each place."""
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)


class TransformerDecoderLayer(Module):
    """Attention of a sequence to itself, to a memory, then a network for each place.

        x = norm1(x + attention(x)),  x = norm2(x + attention(x, memory)),
        x = norm3(x + linear2(activation(linear1(x))))

    or with `norm_first` the normalisation before each part, as in the encoder's layer.

    Arguments are those of `torch.nn.TransformerEncoderLayer`.

    Shape: tgt (T, N, E), memory (S, N, E), result (T, N, E), all without N or none. `tgt_mask`
    (T, T), `memory_mask` (T, S), `tgt_key_padding_mask` (N, T) and `memory_key_padding_mask` (N, S)
    are as in `torch.nn.MultiheadAttention`.

    Source: Vaswani et al., Attention is all you need, 2017, section 3.1.

    >>> layer = torch.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(torch.zeros(5, 3, 8), torch.zeros(7, 3, 8)).shape
    torch.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        options = {"dropout": dropout, "bias": bias, "batch_first": batch_first, **place}
        self.self_attn = MultiheadAttention(d_model, nhead, **options)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _function(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(
        self, x: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        """Attention to itself."""
        x = self.self_attn(
            *(x, x, x),
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return self.dropout1(x)

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        """Attention to the memory."""
        x = self.multihead_attn(
            *(x, mem, mem),
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return self.dropout2(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        """The network for each place."""
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout3(x)
