"""A table of weights, as embeddings have one."""

from __future__ import annotations

from typing import Any

from tapegrad.autograd.mode import no_grad
from tapegrad.core.errors import assertion_error
from tapegrad.nn import init
from tapegrad.nn.module import Module
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.tensors.tensor import Tensor


class Table(Module):
    """A table of weights; row `padding_idx` stands for nothing."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Parameter

    def _make_weight(
        self, given: Tensor | None, frozen: bool, shape: tuple, device: Any, dtype: Any
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
