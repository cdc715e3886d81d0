"""The softmax over many classes, cheap for the frequent ones."""

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tapegrad.core.dtype import int64
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.nn import functional as F
from tapegrad.nn.modules.container import ModuleList, Sequential
from tapegrad.nn.modules.linear import Linear
from tapegrad.nn.modules.module import Module
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.tensors.tensor import Tensor

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities and loss of classes that are sorted by frequency, 0 the most frequent.

    The classes before the first cutoff have scores of their own in the head, each cluster of rarer
    ones has one, and the classes of a cluster have theirs in its tail, which is the narrower the
    rarer they are: `log p(class) = log p(cluster) + log p(class | cluster)`.

    Args:
        in_features: length D of a row of the input
        n_classes: number of classes C
        cutoffs: where the clusters begin
        div_value: cluster i works in `in_features / div_value**(i + 1)` dimensions
        head_bias: whether the head has a bias

    Shape: `x: (N, D)` and targets `(N,)` to a pair `output: (N,)`, the targets' log-probabilities,
    and `loss: ()`, the mean of their negatives. Or all without N.

    Source: Grave et al., Efficient softmax approximation for GPUs, 2017.

    >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[4, 10])
    >>> layer(torch.zeros(2, 16), torch.tensor([0, 15])).output.detach()
    tensor([-1.7918, -4.0943])
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*_checked(cutoffs, n_classes), n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **options),
                    Linear(width, size, bias=False, **options),
                )
            )

    def reset_parameters(self) -> None:
        """Each linear layer as it begins."""
        self.head.reset_parameters()
        for narrow, scores in self.tail:
            narrow.reset_parameters()
            scores.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        _check_shapes(input_, target_)
        batched = target_.dim() > 0
        x = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        if target.numel() and not 0 <= int(target.min()) <= int(target.max()) < self.n_classes:
            raise runtime_error(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. ",
                "A target is the number of a class.",
            )
        in_cluster = x.new_zeros(target.shape)
        place = target.clone()  # in the head: of the class, or of its cluster
        for i, tail in enumerate(self.tail):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel():
                logp = F.log_softmax(tail(x.index_select(0, rows)), dim=1)
                own = logp.gather(1, (target.index_select(0, rows) - low).unsqueeze(1))
                in_cluster = in_cluster.index_copy(0, rows, own.squeeze(1))
                place = place.index_fill(0, rows, self.shortlist_size + i)
        head = F.log_softmax(self.head(x), dim=1)
        output = in_cluster + head.gather(1, place.to(int64).unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, D) to (N, C).

        >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[4, 10])
        >>> layer.log_prob(torch.ones(2, 16)).shape
        torch.Size([2, 20])
        """
        return self._all_classes(input, self.head(input))

    def _all_classes(self, input: Tensor, scores: Tensor) -> Tensor:
        head = F.log_softmax(scores, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + of_cluster)
        return cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The likeliest class of each row: (N, D) to (N,).

        Where the likeliest entry of the head is a class, no tail is computed.

        >>> layer = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs=[4, 10])
        >>> layer.predict(torch.zeros(2, 16))
        tensor([0, 0])
        """
        scores = self.head(input)
        likeliest = scores.argmax(1)
        rows = (likeliest >= self.shortlist_size).nonzero().squeeze(1)
        if not rows.numel():
            return likeliest
        logp = self._all_classes(input.index_select(0, rows), scores.index_select(0, rows))
        return likeliest.index_copy(0, rows, logp.argmax(1))


def _checked(cutoffs: Sequence[int], n_classes: int) -> list[int]:
    if len(cutoffs) == 0:
        raise value_error(
            "cutoffs should be a sequence of length larger than 0",
            "With one cluster only, CrossEntropyLoss does the same.",
        )
    cuts = list(cutoffs)
    if cuts != sorted({int(c) for c in cuts}) or cuts[0] <= 0 or cuts[-1] > n_classes - 1:
        raise value_error(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1",
            f"They are {cuts}, and n_classes is {n_classes}.",
        )
    return cuts


def _check_shapes(input: Tensor, target: Tensor) -> None:
    n = target.dim()
    if n > 1:
        raise runtime_error(
            "0D or 1D target tensor expected, multi-target not supported",
            "There is one target for each row of the input.",
        )
    if n == 1 and input.shape[0] != target.shape[0]:
        raise runtime_error(
            "Input and target should have the same size in the batch dimension.",
            f"They have {input.shape[0]} and {target.shape[0]} rows.",
        )
    if input.dim() != n + 1:
        raise runtime_error(
            f"{n}D target tensor expects {n + 1}D input tensors, but found inputs with size "
            f"{input.size()}",
            "The input is (N, D) with targets (N,), or (D,) with one target.",
        )
