"""The divergence of one distribution from another."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors, users_level
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.nn.loss.mse_l1 import check_reduction, legacy_reduction, reduced


@autocast(name="kl_div")
def divergence(input: Tensor, target: Tensor, reduction: str, log_target: bool) -> Any:
    """target * (log(target) - input), the target a probability or its logarithm."""
    if input.dtype.is_complex or target.dtype.is_complex:
        text = "kl_div: Complex inputs not supported."
        raise errors.runtime_error(text, "Probabilities and their logarithms are real.")
    for x in (input, target):
        if not x.dtype.is_floating_point:
            text = "kl_div: Integral inputs not supported."
            raise errors.runtime_error(text, "Convert them: .float().")
    loss = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    return reduced(loss, reduction)


@require_tensors
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """The mean of target * (log(target) - input) for log-probabilities `input`.

    With reduction="batchmean", their sum divided by the size of the first dimension, which is
    what the divergence means.

    Shapes: any that broadcast; the result is (), or without reduction the common one.

    Source: Kullback and Leibler, "On Information and Sufficiency", 1951, eq. 2.4.

    >>> p = torch.tensor([0.5, 0.5])
    >>> torch.nn.functional.kl_div(p.log(), p, reduction="sum")
    tensor(0.)
    """
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce, reduction)
    elif reduction == "mean":
        errors.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            users_level(),
        )
    if reduction == "batchmean":
        loss = divergence(input, target, "sum", log_target)
        return loss / input.shape[0] if input.ndim else loss
    return divergence(input, target, check_reduction(reduction), log_target)
