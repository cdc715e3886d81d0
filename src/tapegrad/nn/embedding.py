"""An embedding: a table with a row for each of many things, looked up by number."""

from __future__ import annotations

from typing import Any, Self

from tapegrad.nn import functional as F
from tapegrad.nn.embedding_table import Table, row_of, shape_of
from tapegrad.tensors.tensor import Tensor


class Embedding(Table):
    """The rows of a table that the input names.

    Args:
        num_embeddings: number of rows V
        embedding_dim: length of a row D
        padding_idx: this row begins as zeros and gets no gradient
        max_norm: rows that are named are first scaled in place so that none is longer
        norm_type: p of the norm for `max_norm`
        scale_grad_by_freq: whether gradients are divided by how often a row is named
        sparse: there are no sparse gradients; True raises when it computes

    Shape: integers `(...)` to `(..., D)`; `weight: (V, D)`.

    >>> layer = torch.nn.Embedding(10, 3, padding_idx=0)
    >>> layer(torch.tensor([[1, 2], [0, 9]])).shape
    torch.Size([2, 2, 3])
    >>> layer(torch.tensor(0)).detach()
    tensor([0., 0., 0.])
    """

    __constants__ = (
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
    )

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = row_of(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        shape = (num_embeddings, embedding_dim)
        self._make_weight(_weight, _freeze, shape, device, dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        if self.sparse:
            parts.append("sparse=True")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An embedding with the table `embeddings` (V, D), that does not learn unless told to.

        >>> layer = torch.nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> layer(torch.tensor([1]))
        tensor([[3., 4.]])
        """
        n_rows, width = shape_of(embeddings)
        return cls(
            n_rows,
            width,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )
