"""Negative log-likelihoods, as modules: of numbers, of counts, of sequences."""

from __future__ import annotations

from collections.abc import Sequence

from tapegrad.nn import functional as F
from tapegrad.nn.loss import Loss
from tapegrad.tensors.tensor import Tensor


class GaussianNLLLoss(Loss):
    """Numbers from normal distributions: `(log(var) + (x - y)^2 / var) / 2`.

    Args:
        full: whether the constant `log(2 pi) / 2` counts
        eps: the least variance

    Source: Nix and Weigend, "Estimating the mean and variance of the target probability
    distribution", 1994.

    >>> torch.nn.GaussianNLLLoss()(torch.tensor([0.0, 1.0]), torch.zeros(2), torch.ones(2))
    tensor(0.2500)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class PoissonNLLLoss(Loss):
    """Counts from Poisson distributions: `exp(x) - y * x` for logarithms x of what is expected.

    Args:
        log_input: False if x is what is expected itself: `x - y * log(x + eps)`
        full: whether Stirling's approximation of log(y!) is added

    >>> torch.nn.PoissonNLLLoss()(torch.zeros(2), torch.tensor([0.0, 3.0]))
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class CTCLoss(Loss):
    """Sequences of labels, wherever in time they are: connectionist temporal classification.

    Args:
        blank: the number of the symbol between labels
        zero_infinity: whether targets that cannot be reached cost nothing, instead of inf

    Shapes: log_probs (T, N, C), targets (N, L) or one after the other, lengths (N).

    Source: Graves et al., "Connectionist Temporal Classification", 2006.

    >>> logp = torch.full((2, 1, 2), 0.5).log()  # of the paths 11, 10, 01, 00 three say "1"
    >>> torch.nn.CTCLoss()(logp, torch.tensor([[1]]), (2,), (1,)).neg().exp()
    tensor(0.7500)
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
