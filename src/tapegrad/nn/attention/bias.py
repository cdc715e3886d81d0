"""Causal masks that are not square: `causal_upper_left`, `causal_lower_right`.

With a number of queries other than that of keys, the diagonal begins at the first pair or ends at
the last one.
"""

from enum import IntEnum, auto
from typing import Any

import tapegrad
from tapegrad.core.errors import advised, assertion_error, value_error

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Where the diagonal of a causal mask lies.

    >>> torch.nn.attention.bias.CausalVariant.LOWER_RIGHT
    <CausalVariant.LOWER_RIGHT: 2>
    """

    UPPER_LEFT = auto()
    LOWER_RIGHT = auto()


_WITHOUT_ELEMENTS = frozenset(
    "dim element_size is_contiguous ndimension nelement numel size stride".split()
)


class CausalBias(tapegrad.Tensor):
    """A causal mask, for `scaled_dot_product_attention` as `attn_mask`, without memory.

    `seq_len_q` queries by `seq_len_kv` keys. Nothing but attention computes with it.

    >>> torch.nn.attention.bias.causal_lower_right(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        # The shape is PyTorch's, the variant first; nobody reads the elements.
        return tapegrad.Tensor._make_subclass(cls, tapegrad.empty(variant, seq_len_q, seq_len_kv))

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            text = f"variant must be a CausalVariant, got {type(variant).__name__}"
            raise assertion_error(text, "causal_upper_left and causal_lower_right make one.")
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv

    def _materialize(self, device: Any = None) -> Any:
        """The mask as a tensor of truth values (queries, keys)."""
        whole = tapegrad.ones(self.seq_len_q, self.seq_len_kv, device=device, dtype=tapegrad.bool)
        lower_right = self.variant == CausalVariant.LOWER_RIGHT
        return whole.tril(self.seq_len_kv - self.seq_len_q if lower_right else 0)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        if func is tapegrad.nn.functional.scaled_dot_product_attention:
            return _attention(*args, **(kwargs or {}))
        # An attribute, or what is known without the elements: shape, device, ...
        if getattr(func, "__name__", "") in ("__get__", *_WITHOUT_ELEMENTS):
            return super().__torch_function__(func, types, args, kwargs or {})
        raise advised(
            NotImplementedError("CausalBias only supports scaled_dot_product_attention"),
            "_materialize() gives the mask as a tensor.",
        )

    def __repr__(self, **kwargs: Any) -> str:
        return repr(self._materialize())


def _attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if is_causal:
        raise value_error("CausalBias should not be used with causal=True", "One mask is enough.")
    return tapegrad.nn.functional.scaled_dot_product_attention(
        *(query, key, value, attn_mask._materialize(query.device)),
        dropout_p=dropout_p,
        scale=scale,
        enable_gqa=enable_gqa,
    )


def _two(name: str, size: tuple) -> tuple:
    if len(size) != 2:
        text = f"{name} only supports 2D tensors"
        raise assertion_error(text, "The number of queries and that of keys.")
    return size


def causal_upper_left(*size: int) -> CausalBias:
    """The mask by which query `i` sees keys up to `i`.

    >>> torch.nn.attention.bias.causal_upper_left(2, 3)
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    return CausalBias(CausalVariant.UPPER_LEFT, *_two("causal_upper_left", size))


def causal_lower_right(*size: int) -> CausalBias:
    """The mask by which the last query sees all keys, each one before it a key less.

    >>> q, k = torch.ones(1, 1, 1, 2), torch.eye(2).view(1, 1, 2, 2)
    >>> mask = torch.nn.attention.bias.causal_lower_right(1, 2)
    >>> torch.nn.functional.scaled_dot_product_attention(q, k, k, mask)
    tensor([[[[0.5000, 0.5000]]]])
    """
    return CausalBias(CausalVariant.LOWER_RIGHT, *_two("causal_lower_right", size))
