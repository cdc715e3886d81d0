"""Joining axes into one, and splitting one into several."""

from typing import Any

from tapegrad.core.errors import type_error
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """The axes `start_dim` to `end_dim` joined into one; by default all but the first.

    >>> torch.nn.Flatten()(torch.ones(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    __constants__ = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """The axis `dim` split into axes of the sizes `unflattened_size`, one of which may be -1.

    >>> torch.nn.Unflatten(1, (2, -1))(torch.ones(5, 6)).shape
    torch.Size([5, 2, 3])
    """

    __constants__ = ("dim", "unflattened_size")

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise type_error(
                "unflattened_size must be a tuple of ints, but found type "
                f"{type(unflattened_size).__name__}",
                f"Write ({unflattened_size},).",
            )
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise type_error(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {i}",
                    "Give the size of each new axis.",
                )
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
