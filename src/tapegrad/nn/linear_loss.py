"""Cross-entropy of a linear layer's scores, layer and loss in one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tapegrad.nn import functional as F
from tapegrad.nn.linear import Linear
from tapegrad.nn.loss import WeightedLoss
from tapegrad.tensors.tensor import Tensor


class LinearCrossEntropyLoss(WeightedLoss):
    """`CrossEntropyLoss` of the scores `linear(x)`, which with `options` never exist all at once.

    Args:
        in_features: length D of a row of the input
        num_classes: number of classes C
        out_features: sizes of further dimensions of scores and targets
        bias: whether the layer has a bias
        weight: (C,), one for each class
        ignore_index: a target that does not count
        label_smoothing: how much of the target is spread evenly over all classes, 0 to 1
        options: `LinearCrossEntropyOptions`, how many rows are taken at a time

    Shape: `x: (N, D)`, targets `(N, *out_features)`; the parameters are those of `self.linear`.

    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 4)
    >>> loss(torch.zeros(2, 3), torch.tensor([3, 0])).detach()
    tensor(1.3863)
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: Sequence[int] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = tuple(out_features)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        n_scores = num_classes * prod(self.out_features)
        self.linear = Linear(in_features, n_scores, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        scores = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.view(*scores, -1) if self.out_features else self.linear.weight,
            target,
            linear_bias=bias.view(scores) if bias is not None and self.out_features else bias,
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
