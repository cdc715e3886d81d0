"""Drawing indices by weight."""

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Out, Source, Tensor
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.dtype import int64
from tapegrad.core.shape import countable_bytes
from tapegrad.core.streams import integer
from tapegrad.operators.random.argument import int_of, is_integer, stream_of
from tapegrad.operators.random.fill import fill_out, of_tensors, prepare_out

__torch__ = "multinomial"


@of_tensors
def multinomial(
    input: Tensor,
    num_samples: Any,
    replacement: bool = False,
    *,
    generator: Source = None,
    out: Out = None,
) -> Any:
    """Indices drawn along the last dimension of `input`, as often as its weights say.

    Index i has the probability `input[i] / sum(input)`; without `replacement` none is drawn twice.

    Shape: (m,) to (num_samples,), or (n, m) to (n, num_samples).
    Raises: RuntimeError for weights that are negative or not finite, or too few for the draws.

    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.tensor([0.0, 3.0, 1.0]), 4, replacement=True)
    tensor([2, 1, 1, 2])
    """
    errors.need_tensor("multinomial", "input", 1, input)
    stream = stream_of("multinomial", generator)
    if not is_integer(num_samples):
        advice = "Pass how many indices shall be drawn."
        raise errors.must_be("multinomial", "num_samples", 2, "int", num_samples, advice)
    if not isinstance(replacement, bool):
        advice = "Say whether an index may be drawn twice."
        raise errors.must_be("multinomial", "replacement", 3, "bool", replacement, advice)
    weights, n = input._array, int_of(num_samples)
    _check_weights(weights, input.dtype, n, replacement)
    countable_bytes((*weights.shape[:-1], n), 8)
    if out is None:
        return tensor_base.wrap(integer.choice(stream, weights, n, replacement=replacement))
    if out.dtype is not int64:
        text = f"multinomial expects Long tensor out, got: {out.dtype.scalar_name}"
        raise errors.runtime_error(text, "Pass an out= of torch.int64.")
    prepare_out("multinomial", out, (*weights.shape[:-1], n))

    def draw(stream: Any, shape: tuple, dtype: np.dtype) -> np.ndarray:
        return integer.choice(stream, weights, n, replacement=replacement)

    return fill_out("multinomial", out, draw, stream)


def _check_weights(weights: np.ndarray, dtype: Dtype, n: int, replacement: bool) -> None:
    advice = "Weights are finite and not negative, and in each row one is larger than zero."
    reason = ""
    if weights.ndim not in (1, 2):
        reason = "prob_dist must be 1 or 2 dim"
    elif not dtype.is_floating_point:
        reason = (
            f"multinomial only supports floating-point dtypes for input, got: {dtype.scalar_name}"
        )
        advice = "Convert the weights to torch.float32."
    elif n <= 0:
        reason = "cannot sample n_sample <= 0 samples"
    elif not replacement and n > weights.shape[-1]:
        reason = "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        advice = "Pass replacement=True, or draw fewer."
    elif weights.shape[-1] > 2**24:
        reason = "number of categories cannot exceed 2^24"
    if reason:
        raise errors.runtime_error(reason, advice)
    rows = np.atleast_2d(weights)
    is_wrong = ~((rows >= 0) & (rows < np.inf))
    if replacement and n > 1:  # PyTorch looks at row by row, and names what is wrong
        bad = is_wrong.any(axis=-1) | ~(rows.sum(axis=-1, dtype=np.float64) > 0)
        if not bad.any():
            return
        row = int(np.argmax(bad))
        what = "sum of probabilities <= 0"
        if is_wrong[row].any():
            first = rows[row, np.argmax(is_wrong[row])]
            is_negative = not first >= 0  # nan, too
            what = "encountering probability entry " + (
                "< 0" if is_negative else "= infinity or NaN"
            )
        raise errors.runtime_error(f"invalid multinomial distribution ({what})", advice)
    if len(rows) and not rows.shape[-1]:
        raise errors.runtime_error(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
            "no identity.",
            advice,
        )
    if is_wrong.any():
        reason = "probability tensor contains either `inf`, `nan` or element < 0"
        raise errors.runtime_error(reason, advice)
    if (rows.sum(axis=-1, dtype=np.float64) == 0).any():
        reason = "invalid multinomial distribution (sum of probabilities <= 0)"
        raise errors.runtime_error(reason, advice)
