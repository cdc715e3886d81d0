"""Losses with a margin: what is on the right side of it, far enough, costs nothing."""

from tapegrad.autograd.writable import cannot_cast, check_constant, output_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.dtype import bool_
from tapegrad.core.limits import default
from tapegrad.core.promote_types import can_cast, promote_types
from tapegrad.core.result_order import in_operands_order
from tapegrad.core.shape import broadcast
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import check_real_graph
from tapegrad.operators.nn.cosine_similarity_distance import pairwise_distance
from tapegrad.operators.nn.loss.mse_l1 import check_reduction, mean_or_sum, reduced, share
from tapegrad.operators.pointwise.where_clamp import clamp_min, where
from tapegrad.operators.with_number import minus_number, plus_number


def _soft_margin_slope(xp: Namespace, input: Array, target: Array) -> Any:
    z = xp.exp(-target * input)
    return -target * z / (1 + z)


@jvp(
    input=lambda xp, t, input, target, reduction: mean_or_sum(
        xp, _soft_margin_slope(xp, input, target) * t, reduction
    )
)
@vjp(
    input=lambda xp, g, input, target, reduction: (
        _soft_margin_slope(xp, input, target) * share(xp, g, input * target, reduction)
    )
)
@primitive(
    promote="arith", node="SoftMarginLossBackward0", hidden=("target",), order=in_operands_order
)
def soft_margin(xp, input, target, *, reduction):
    """log(1 + exp(-target * input)), summed or averaged."""
    return mean_or_sum(xp, xp.log1p(xp.exp(-target * input)), reduction)


@autocast
def soft_margin_loss(input: Tensor, target: Tensor, reduction: str) -> Any:
    """`soft_margin`, whose target has no gradient."""
    check_reduction(reduction)
    check_constant("soft_margin_loss", "target", target)
    x, y = input._array, target._array
    if x.dtype is not y.dtype or x.dtype.kind != "f" or x.shape != y.shape:
        _check_fit(input, target)
    return soft_margin(input, target, reduction=reduction).to(input.dtype)


def _check_fit(input: Tensor, target: Tensor) -> None:
    """Raise where the losses do not fit into a tensor like the input: PyTorch writes them there."""
    check_real_graph("soft_margin_loss", input)
    if input.dtype is bool_:
        input.neg()  # its error
    dtype = promote_types(input.dtype, target.dtype)
    dtype = default() if dtype.category < 2 else dtype
    if not can_cast(dtype, input.dtype):
        raise cannot_cast(dtype, input.dtype, "Convert the input first: input.float().")
    shape = input._array.shape
    wide = broadcast(shape, target._array.shape)
    if wide != shape:
        raise output_shape(shape, wide, "The input has the shape of the losses.")


# --- pairs and triples ---


@autocast(name="margin_ranking_loss")
def margin_ranking(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: str
) -> Any:
    """max(0, -target * (input1 - input2) + margin)."""
    cost = plus_number(-target * (input1 - input2), number=margin)
    return reduced(clamp_min(cost, 0), reduction)


@autocast(name="hinge_embedding_loss")
def hinge_embedding(input: Tensor, target: Tensor, margin: float, reduction: str) -> Any:
    """The input where the target is 1, max(0, margin - input) where it is -1, both elsewhere."""
    zero = input.new_zeros(())
    far = clamp_min(input.new_full((), margin) - input, 0)
    return reduced(where(target != 1, far, zero) + where(target != -1, input, zero), reduction)


_EPS = 1e-12  # added to squared lengths


@autocast(name="cosine_embedding_loss")
def cosine_embedding(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: str
) -> Any:
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1, 0 elsewhere."""
    first, second, targets = (x._array.shape for x in (input1, input2, target))
    n = len(targets)
    if n > 1:
        text = "0D or 1D target tensor expected, multi-target not supported"
        raise errors.runtime_error(text, "One target, 1 or -1, for each pair of vectors.")
    if len(first) != n + 1 or len(second) != n + 1:
        raise errors.runtime_error(
            f"{n}D target tensor expects {n + 1}D input tensors, but found inputs with sizes "
            f"{list(first)} and {list(second)}.",
            "One target, 1 or -1, for each pair of vectors.",
        )
    product = (input1 * input2).sum(n)
    squares = [plus_number((x * x).sum(n), number=_EPS) for x in (input1, input2)]
    cos = product / (squares[0] * squares[1]).sqrt()
    zero = cos.new_zeros(())
    far = clamp_min(minus_number(cos, number=margin), 0)
    near = cos.new_ones(()) - cos
    return reduced(where(target == 1, near, zero) + where(target == -1, far, zero), reduction)


@autocast(name="triplet_margin_loss")
def triplet_margin(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: str,
) -> Any:
    """max(0, |anchor - positive| - |anchor - negative| + margin)."""
    check_triple(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduced(clamp_min(plus_number(near, number=margin) - far, 0), reduction)


def check_triple(anchor: Any, positive: Any, negative: Any) -> None:
    """Three tensors of as many dimensions."""
    a, b, c = (x._array.ndim for x in (anchor, positive, negative))
    if not a == b == c:
        raise errors.runtime_error(
            "The anchor, positive, and negative tensors are expected to have the same number "
            f"of dimensions, but got: anchor {a}D, positive {b}D, and negative {c}D inputs",
            "Bring them to one shape first.",
        )
