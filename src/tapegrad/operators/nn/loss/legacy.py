"""Losses at the top level of torch, where a number says how they are reduced: 1 mean, 2 sum.

Any other number means not at all, and so, unlike in torch.nn.functional, does leaving it out.
"""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.operators.nn.loss import margin as _margin
from tapegrad.operators.nn.loss.bce import binary_cross_entropy_with_logits as _with_logits
from tapegrad.operators.nn.loss.kl_div import divergence
from tapegrad.operators.nn.loss.poisson_nll import poisson_nll

__torch__ = (
    "binary_cross_entropy_with_logits cosine_embedding_loss hinge_embedding_loss kl_div "
    "margin_ranking_loss poisson_nll_loss triplet_margin_loss"
)


def reduction_of(name: str, number: Any, position: int) -> str:
    """The word for a number."""
    if not isinstance(number, int):
        raise errors.must_be(name, "reduction", position, "int", number)
    return {1: "mean", 2: "sum"}.get(number, "none")


@require_tensors
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Any = None,
    reduction: int = 0,
) -> Any:
    """Binary cross-entropy at sigmoid(input); see torch.nn.functional.

    Shapes: input and target alike, weights broadcast; () unless `reduction` is 0.

    >>> torch.binary_cross_entropy_with_logits(torch.zeros(1), torch.ones(1))
    tensor([0.6931])
    """
    word = reduction_of("binary_cross_entropy_with_logits", reduction, 5)
    if input.shape != target.shape:
        from tapegrad.operators import broadcast_tensors

        target, input = broadcast_tensors(target, input)
    return _with_logits(input, target, weight, word, pos_weight)


@require_tensors
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """1 - cos for targets 1, max(0, cos - margin) for targets -1; see torch.nn.functional.

    Shapes: (N, D), (N, D) and (N,); or (D,), (D,) and (). To () unless `reduction` is 0.

    >>> torch.cosine_embedding_loss(torch.eye(2), torch.ones(2, 2), torch.ones(2))
    tensor([0.2929, 0.2929])
    """
    word = reduction_of("cosine_embedding_loss", reduction, 5)
    return _margin.cosine_embedding(input1, input2, target, margin, word)


@require_tensors
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0
) -> Any:
    """The input for targets 1, max(0, margin - input) for targets -1; see torch.nn.functional.

    Shapes: any that broadcast; () unless `reduction` is 0.

    >>> torch.hinge_embedding_loss(torch.tensor([0.5, 0.25]), torch.tensor([1.0, -1.0]))
    tensor([0.5000, 0.7500])
    """
    word = reduction_of("hinge_embedding_loss", reduction, 4)
    return _margin.hinge_embedding(input, target, margin, word)


@require_tensors
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Any:
    """target * (log(target) - input) for log-probabilities `input`; see torch.nn.functional.

    Shapes: any that broadcast; () unless `reduction` is 0.

    >>> torch.kl_div(torch.zeros(2), torch.tensor([1.0, 0.5]))
    tensor([ 0.0000, -0.3466])
    """
    return divergence(input, target, reduction_of("kl_div", reduction, 3), log_target)


@require_tensors
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """max(0, -target * (input1 - input2) + margin); see torch.nn.functional.

    Shapes: any that broadcast; () unless `reduction` is 0.

    >>> torch.margin_ranking_loss(torch.zeros(1), torch.ones(1), torch.ones(1))
    tensor([1.])
    """
    word = reduction_of("margin_ranking_loss", reduction, 5)
    return _margin.margin_ranking(input1, input2, target, margin, word)


@require_tensors
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    """exp(input) - target * input; see torch.nn.functional.

    Shapes: any that broadcast; () unless `reduction` is 0.

    >>> torch.poisson_nll_loss(torch.zeros(1), torch.ones(1), True, False, 1e-8, 1)
    tensor(1.)
    """
    word = reduction_of("poisson_nll_loss", reduction, 6)
    return poisson_nll(input, target, log_input, full, eps, word)


@require_tensors
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Any:
    """max(0, |anchor - positive| - |anchor - negative| + margin); see torch.nn.functional.

    Shapes: (..., D) each, which broadcast; () unless `reduction` is 0, then (...).

    >>> torch.triplet_margin_loss(torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2))
    tensor([1.0000])
    """
    word = reduction_of("triplet_margin_loss", reduction, 8)
    return _margin.triplet_margin(anchor, positive, negative, margin, p, eps, swap, word)
