"""Sums, means and maxima of bags of rows of a table."""

from __future__ import annotations

from typing import Any, Self

from tapegrad.nn import functional as F
from tapegrad.nn.embedding_table import Table, row_of, shape_of
from tapegrad.tensors.tensor import Tensor


class EmbeddingBag(Table):
    """The sum, mean or maximum of the rows in each bag of numbers.

    Args:
        num_embeddings: number of rows V
        embedding_dim: length of a row D
        max_norm: rows that are named are first scaled in place so that none is longer
        norm_type: p of the norm for `max_norm`
        scale_grad_by_freq: whether gradients are divided by how often a row is named
        mode: "sum", "mean" or "max"
        sparse: there are no sparse gradients; True raises when it computes
        include_last_offset: whether `offsets` ends with the length of the input
        padding_idx: this row is left out of every bag

    `forward(input, offsets=None, per_sample_weights=None)`: `input` (B, N) has a bag in each row;
    or it is one row of numbers, and `offsets` (B,) says where in it bags begin.

    Shape: to `(B, D)`; `weight: (V, D)`.

    >>> layer = torch.nn.EmbeddingBag(10, 3, mode="sum")
    >>> layer(torch.tensor([1, 2, 4, 5]), torch.tensor([0, 3])).shape
    torch.Size([2, 3])
    """

    __constants__ = (
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    )

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = row_of(padding_idx, num_embeddings, "padding_idx")
        self._make_weight(_weight, False, (num_embeddings, embedding_dim), device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """Bags with the table `embeddings` (V, D), that does not learn unless told to.

        >>> bags = torch.nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> bags(torch.tensor([[0, 1]]))
        tensor([[2., 3.]])
        """
        n_rows, width = shape_of(embeddings)
        bags = cls(
            n_rows,
            width,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        bags.weight.requires_grad = not freeze
        return bags
