"""Embeddings: rows of a table, alone or in bags."""

from typing import Self

from tapegrad.autograd.mode import no_grad
from tapegrad.core.annotations import DeviceLike, DTypeLike
from tapegrad.core.errors import assertion_error
from tapegrad.nn import functional as F
from tapegrad.nn import init
from tapegrad.nn.modules.module import Module
from tapegrad.nn.modules.utils import unusual
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.tensors.tensor import Tensor

__all__ = ["Embedding", "EmbeddingBag"]


class Table(Module):
    """A table of weights; row `padding_idx` stands for nothing."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def _make_weight(
        self, given: Tensor | None, frozen: bool, shape: tuple, device: DeviceLike, dtype: DTypeLike
    ) -> None:
        if given is None:
            values = empty(shape, device=device, dtype=dtype)
            self.weight = Parameter(values, requires_grad=not frozen)
            self.reset_parameters()
            return
        if tuple(given.shape) != shape:
            raise assertion_error(
                "Shape of weight does not match num_embeddings and embedding_dim",
                f"It is {tuple(given.shape)}, and should be {shape}.",
            )
        self.weight = Parameter(given, requires_grad=not frozen)

    def reset_parameters(self) -> None:
        """Normal with mean 0 and standard deviation 1; row `padding_idx` zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


def row_of(padding_idx: int | None, n_rows: int, name: str) -> int | None:
    """`padding_idx` counted from the first row."""
    if padding_idx is None:
        return None
    if not -n_rows <= padding_idx < n_rows:
        raise assertion_error(
            f"{name} must be within num_embeddings", f"The table has {n_rows} rows."
        )
    return padding_idx % n_rows


def shape_of(embeddings: Tensor) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise assertion_error(
            "Embeddings parameter is expected to be 2-dimensional",
            "It has a row for each embedding.",
        )
    n_rows, width = embeddings.shape
    return n_rows, width


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
        "num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse"
    ).split()

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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = row_of(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        shape = (num_embeddings, embedding_dim)
        self._make_weight(_weight, _freeze, shape, device, dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        options = self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        return F.embedding(input, self.weight, self.padding_idx, *options)

    def extra_repr(self) -> str:
        rows = unusual(self, padding_idx=None, max_norm=None, norm_type=2)
        parts = [*rows, *unusual(self, scale_grad_by_freq=False, sparse=False)]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *parts])

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
        options = (max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)
        return cls(n_rows, width, padding_idx, *options)


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
        "num_embeddings embedding_dim max_norm norm_type scale_grad_by_freq mode sparse "
        "include_last_offset padding_idx"
    ).split()

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
        device: DeviceLike = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = row_of(padding_idx, num_embeddings, "padding_idx")
        self._make_weight(_weight, False, (num_embeddings, embedding_dim), device, dtype)
        self.mode, self.sparse = mode, sparse
        self.include_last_offset = include_last_offset

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        return F.embedding_bag(
            *(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq),
            *(self.mode, self.sparse, per_sample_weights, self.include_last_offset),
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        parts = unusual(self, max_norm=None, norm_type=2, scale_grad_by_freq=False)
        parts += [f"mode={self.mode!r}", *unusual(self, padding_idx=None)]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *parts])

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
        options = (max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings)
        bags = cls(n_rows, width, *options, include_last_offset, padding_idx)
        bags.weight.requires_grad = not freeze
        return bags
