"""The loss of sequences without alignment, with PyTorch's arguments."""

from __future__ import annotations

from collections.abc import Sequence

from tapegrad.core.argument_check import takes_tensors
from tapegrad.operators.nn.loss.ctc import alignment
from tapegrad.operators.nn.loss.mse_l1 import check_reduction
from tapegrad.tensors.tensor import Tensor

__all__ = ["ctc_loss"]


@takes_tensors
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the logarithm of the probability of each target, wherever in time its labels are.

    The sum over all sequences of symbols that become the target when repeated symbols are joined
    and then blanks taken out. "mean" divides by the length of each target before averaging. A
    target that cannot be reached has the loss inf, or with zero_infinity 0 and no gradient.

    The gradient is the one along log-probabilities that stay normalised, as in PyTorch: right
    behind log_softmax.

    Args:
        log_probs: (T, N, C) or (T, C), the logarithms of probabilities (of log_softmax)
        targets: (N, L), or all labels one after the other; for one target (L)
        input_lengths: (N), how much of the time T counts
        target_lengths: (N), how many labels there are
        blank: the number of the symbol between labels

    Source: Graves et al., "Connectionist Temporal Classification", 2006.

    >>> logp = torch.full((2, 1, 2), 0.5).log()  # of the paths 11, 10, 01, 00 three say "1"
    >>> torch.nn.functional.ctc_loss(logp, torch.tensor([[1]]), (2,), (1,)).neg().exp()
    tensor(0.7500)
    """
    check_reduction(reduction)
    return alignment(
        log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity
    )
