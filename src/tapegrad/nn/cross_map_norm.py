"""Response normalisation as old models have it."""

from __future__ import annotations

from tapegrad.core.errors import value_error
from tapegrad.nn.module import Module
from tapegrad.operators.shape.cat_stack import stack
from tapegrad.tensors.tensor import Tensor


class CrossMapLRN2d(Module):
    """`y = x / (k + alpha / size * sum(x^2))^beta`, the sum over neighbouring channels.

    Use `LocalResponseNorm`: as in PyTorch, the first channel stays in the sum of every later one
    once it has been in it. The derivative is that of this function; PyTorch's own differs from
    it, and fails for some sizes.

    Shape: `x` and `y: (N, C, H, W)`.

    >>> torch.nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0)(torch.ones(1, 4, 1, 1)).flatten()
    tensor([0.3333, 0.2500, 0.2000, 0.2500])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise value_error(
                f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.",
                "The shape is (N, C, H, W).",
            )
        squares = (input * input).unbind(1)
        reach = (self.size - 1) // 2 + 1  # the channel itself and those to one side
        sums = []
        for channel in range(len(squares)):
            first = max(channel - reach + 1, 0)
            near = [*squares[first : channel + reach]]
            if channel >= reach:
                near.append(squares[0])
            sums.append(sum(near[1:], near[0]))
        scale = stack(sums, 1) * (self.alpha / self.size) + self.k
        return input * scale**-self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
