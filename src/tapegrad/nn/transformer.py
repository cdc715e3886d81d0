"""The transformer: an encoder and a decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapegrad.core.errors import runtime_error
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.layer_norm import LayerNorm
from tapegrad.nn.module import Module
from tapegrad.nn.transformer_layer import TransformerDecoderLayer, TransformerEncoderLayer
from tapegrad.nn.transformer_stack import TransformerDecoder, TransformerEncoder, causal_mask
from tapegrad.tensors.tensor import Tensor


class Transformer(Module):
    """An encoder, and a decoder that attends to what it gives.

    Args:
        d_model: features, E
        nhead: heads of attention
        num_encoder_layers, num_decoder_layers: number of layers
        custom_encoder, custom_decoder: modules to take instead
        dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: as in
            `torch.nn.TransformerEncoderLayer`

    Shape: src (S, N, E), tgt (T, N, E), result (T, N, E), all without N or none; with `batch_first`
    N comes first.

    Source: Vaswani et al., Attention is all you need, 2017.

    >>> model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    >>> model(torch.zeros(3, 7, 8), torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"device": device, "dtype": dtype}
        options: tuple = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        options += (batch_first, norm_first, bias)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*options, **place)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            other = TransformerDecoderLayer(*options, **place)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            self.decoder = TransformerDecoder(other, num_decoder_layers, norm)
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """All matrices by `xavier_uniform_`."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        axis = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(axis) != tgt.size(axis):
            raise runtime_error(
                "the batch number of src and tgt must be equal",
                "They are (length, batch, features), with batch_first=True (batch, length, "
                "features).",
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise runtime_error(
                "the feature number of src and tgt must be equal to d_model",
                f"The last dimension of both must be {self.d_model}.",
            )
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            *(tgt, memory),
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The causal mask (sz, sz): minus infinity above the diagonal, 0 elsewhere.

        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return causal_mask(sz, device, dtype)
