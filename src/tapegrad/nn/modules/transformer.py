"""Transformers: layers, stacks of them, and the whole model."""

import copy
from typing import Any

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core.annotations import Callable, DeviceLike, DTypeLike, ModuleLike, Shape
from tapegrad.core.errors import runtime_error, warn
from tapegrad.core.missing import public_names
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.functional.multi_head import additive
from tapegrad.nn.modules.activation import GELU, MultiheadAttention, ReLU
from tapegrad.nn.modules.container import ModuleList
from tapegrad.nn.modules.dropout import Dropout
from tapegrad.nn.modules.linear import Linear
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.normalization import LayerNorm
from tapegrad.nn.modules.utils import has_own_constructor
from tapegrad.operators.creation.zeros_eye import full
from tapegrad.operators.shape.tril_triu_diag import triu
from tapegrad.tensors.tensor import Tensor


def _get_activation_fn(activation: str) -> Any:
    """The function of a name."""
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise runtime_error(
        f"activation should be relu/gelu, not {activation}",
        "Any function of a tensor may be given, as a function.",
    )


def _relu_or_gelu(function: Any) -> int:
    """1 for ReLU, 2 for GELU, 0 for another function."""
    if function is F.relu or isinstance(function, ReLU):
        return 1
    return 2 if function is F.gelu or isinstance(function, GELU) else 0


class _Layer(Module):
    """What layers of Transformers share: attention, the network for each place, dropout behind."""

    __constants__ = ("norm_first",)

    _n_parts: int  # each with its normalisation and its dropout

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
        parts = range(1, self._n_parts + 1)
        self.self_attn = MultiheadAttention(d_model, nhead, **options)
        if self._n_parts == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        for i in parts:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
            setattr(self, f"norm{i}", norm)
        for i in parts:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation: Callable[[Tensor], Tensor] = (
            _get_activation_fn(activation) if isinstance(activation, str) else activation
        )
        if self._n_parts == 2:
            self.activation_relu_or_gelu = _relu_or_gelu(self.activation)

    def _attended(
        self, attention: Any, x: Tensor, mem: Tensor, mask: Tensor, padding: Shape, is_causal: bool
    ) -> Tensor:
        options = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
        return attention(x, mem, mem, need_weights=False, **options)[0]

    def _sa_block(
        self, x: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        """Attention to itself."""
        found = self._attended(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal)
        return self.dropout1(found)

    def _ff_block(self, x: Tensor) -> Tensor:
        """The network for each place."""
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return getattr(self, f"dropout{self._n_parts}")(x)


class TransformerEncoderLayer(_Layer):
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

    _n_parts = 2

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


class TransformerDecoderLayer(_Layer):
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

    _n_parts = 3

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

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        """Attention to the memory."""
        found = self._attended(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal)
        return self.dropout2(found)


def _generate_square_subsequent_mask(
    sz: int, device: DeviceLike = None, dtype: DTypeLike = None
) -> Tensor:
    """(sz, sz): minus infinity above the diagonal, 0 elsewhere."""
    return triu(full((sz, sz), float("-inf"), device=device, dtype=dtype), diagonal=1)


def _detect_is_causal_mask(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """What `is_causal` says; if it is None, whether the mask is the causal one, of that size."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = _generate_square_subsequent_mask(
        mask.shape[-2] if size is None else size, mask.device, mask.dtype
    )
    return mask.shape == causal.shape and bool((mask == causal).all())


def _get_seq_len(src: Tensor, batch_first: bool) -> int:
    return src.shape[1 if src.dim() == 3 and batch_first else 0]


def _get_clones(module: Module, N: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _against_zeros(layer: ModuleLike) -> str:
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

    __constants__ = ("norm",)

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
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _against_zeros(encoder_layer) if enable_nested_tensor else ""
        if reason:
            warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"{reason}"
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
        usual = len(self.layers) > 0 and hasattr(self.layers[0], "self_attn")
        batch_first = self.layers[0].self_attn.batch_first if usual else False
        causal = _detect_is_causal_mask(mask, is_causal, _get_seq_len(src, batch_first))
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if padded is not None:
            x = x.masked_fill(padded.unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)

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
        return None if bool((padded[:, :-1] & ~padded[:, 1:]).any()) else padded


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

    __constants__ = ("norm",)

    norm: Module | None

    def __init__(
        self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

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
        length = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
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
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

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
    def generate_square_subsequent_mask(
        sz: int, device: DeviceLike = None, dtype: DTypeLike = None
    ) -> Tensor:
        """The causal mask (sz, sz): minus infinity above the diagonal, 0 elsewhere.

        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, device, dtype)


__all__ = public_names(globals())
has_own_constructor(TransformerEncoderLayer, TransformerDecoderLayer)
