"""Stacks of encoder and of decoder layers."""

from __future__ import annotations

import copy
from typing import Any
from warnings import warn

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.nn.functional.mask import additive
from tapegrad.nn.module import Module
from tapegrad.nn.sequential import ModuleList
from tapegrad.nn.transformer_layer import TransformerDecoderLayer, TransformerEncoderLayer
from tapegrad.operators.creation.zeros_eye import full
from tapegrad.operators.shape.tril_triu_diag import triu
from tapegrad.tensors.tensor import Tensor


def causal_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    """(size, size): minus infinity above the diagonal, 0 elsewhere."""
    return triu(full((size, size), float("-inf"), device=device, dtype=dtype), diagonal=1)


def _is_causal(mask: Tensor | None, hint: bool | None, length: int) -> bool:
    """What the hint says; without one, whether the mask is the causal one."""
    if hint is not None or mask is None:
        return hint is True
    if mask.shape[-2:] != (length, length):
        return False
    causal = causal_mask(length, mask.device, mask.dtype)
    return bool((mask == causal).all())


def _length(x: Tensor, batch_first: bool) -> int:
    return x.shape[1 if x.dim() == 3 and batch_first else 0]


def _copies(layer: Module, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(n)])


def _against_zeros(layer: Any) -> str:
    """Why outputs of padding are not zeroed in evaluation; nothing if they are."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    attention = layer.self_attn
    if not attention.batch_first:
        return (
            "encoder_layer.self_attn.batch_first was not True"
            "(use batch_first for better inference performance)"
        )
    if not attention._qkv_same_embed_dim:
        return "encoder_layer.self_attn._qkv_same_embed_dim was not True"
    if attention.in_proj_bias is None:
        return "encoder_layer.self_attn was passed bias=False"
    if not layer.activation_relu_or_gelu:
        return "encoder_layer.activation_relu_or_gelu was not True"
    if layer.norm1.eps != layer.norm2.eps:
        return "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"
    if attention.num_heads % 2 == 1:
        return "encoder_layer.self_attn.num_heads is odd"
    return ""


class TransformerEncoder(Module):
    """Copies of an encoder layer, one behind the other, and a normalisation if there is one.

    Args:
        encoder_layer: the layer that is copied
        num_layers: number of copies
        norm: what is applied to the result
        enable_nested_tensor: as in PyTorch, whether in evaluation without gradients outputs of
            padding are 0, where the layer allows it; it warns where not
        mask_check: accepted for PyTorch's sake; it is always checked that padding is at the end

    Shape: as of the layer.

    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> encoder = torch.nn.TransformerEncoder(layer, num_layers=2)
    >>> encoder(torch.zeros(3, 5, 8)).shape
    torch.Size([3, 5, 8])
    """

    norm: Module | None

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _against_zeros(encoder_layer) if enable_nested_tensor else ""
        if reason:
            warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"{reason}",
                stacklevel=2,
            )
            self.use_nested_tensor = False

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        padding = additive(*(src_key_padding_mask, "src_key_padding_mask", src.dtype, mask, "mask"))
        mask = additive(mask, "mask", src.dtype)
        padded = self._zeroed(src, mask, padding)
        if padded is not None:
            padding = additive(padded, "src_key_padding_mask", src.dtype)
        batch_first = self.layers[0].self_attn.batch_first if self._is_usual() else False
        causal = _is_causal(mask, is_causal, _length(src, batch_first))
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if padded is not None:
            x = x.masked_fill(padded.unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)

    def _is_usual(self) -> bool:
        return len(self.layers) > 0 and hasattr(self.layers[0], "self_attn")

    def _zeroed(self, src: Tensor, mask: Any, padding: Any) -> Tensor | None:
        """(N, L), True at padding, where PyTorch zeroes its outputs; else None.

        It runs its layers on nested tensors then, which come back padded by zeros: in evaluation,
        without gradients, with nothing but padding at the ends left out.
        """
        if not self.use_nested_tensor or mask is not None or padding is None or src.dim() != 3:
            return None
        layer = self.layers[0]
        if layer.training:
            return None
        if is_grad_enabled() and any(x.requires_grad for x in (src, *layer.parameters())):
            return None
        padded = padding != 0
        if bool((padded[:, :-1] & ~padded[:, 1:]).any()):
            return None
        return padded


class TransformerDecoder(Module):
    """Copies of a decoder layer, one behind the other, and a normalisation if there is one.

    Args:
        decoder_layer: the layer that is copied
        num_layers: number of copies
        norm: what is applied to the result

    Shape: as of the layer.

    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    >>> decoder = torch.nn.TransformerDecoder(layer, num_layers=2)
    >>> decoder(torch.zeros(3, 5, 8), torch.zeros(3, 7, 8)).shape
    torch.Size([3, 5, 8])
    """

    norm: Module | None

    def __init__(
        self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        length = _length(tgt, self.layers[0].self_attn.batch_first)
        causal = _is_causal(tgt_mask, tgt_is_causal, length)
        x = tgt
        for layer in self.layers:
            x = layer(
                *(x, memory),
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)
