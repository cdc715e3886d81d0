"""Draws whose parameters are tensors: `normal`, `multinomial`, `poisson`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.autograd.inplace import write_out
from tapegrad.dtype import default, int64
from tapegrad.dtype import dtype as Dtype
from tapegrad.op import primitive
from tapegrad.ops.random_argument import (
    is_integer,
    mismatch,
    not_implemented,
    number_of,
    require_tensor,
    size_of,
    stream_of,
)
from tapegrad.ops.random_fill import check_normal, fill_out, prepare_out, replacement
from tapegrad.ops.random_make import Options
from tapegrad.streams import integer
from tapegrad.streams import normal as stream_normal
from tapegrad.streams.poisson import poisson as poisson_counts

__all__ = ["multinomial", "normal", "poisson"]

# --- normal ------------------------------------------------------------------------------------

normal_of_mean = replacement("normal_of_mean", "NormalBackward1")
normal_of_std = replacement("normal_of_std", "NormalBackward2")


@primitive(node="NormalBackward3")
def normal_of_both(xp, mean, std, drawn):
    """`drawn`, whose parameters were tensors; it does not depend on them continuously."""
    return drawn


normal_of_both.vjp(
    mean=lambda xp, mean_like: xp.zeros(mean_like.shape, dtype=mean_like.dtype),
    std=lambda xp, std_like: xp.zeros(std_like.shape, dtype=std_like.dtype),
)
normal_of_both.jvp(
    mean=lambda xp, y: xp.zeros_like(y),
    std=lambda xp, y: xp.zeros_like(y),
)


def normal(
    mean: Any = None,
    std: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Normal numbers; mean and standard deviation are tensors or, with a `size`, both numbers.

    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([1.0, 2.0]), 0.1)
    tensor([1.1541, 1.9707])
    """
    is_tensor = isinstance(mean, _tensor.Tensor), isinstance(std, _tensor.Tensor)
    stream = stream_of("normal", generator)
    _check_form(mean, std, size, is_tensor)
    if size is not None:
        mean, std = number_of("normal", "mean", 1, mean), number_of("normal", "std", 2, std)
        shape = size_of("normal", (), size)
        options = Options(
            "normal", dtype, layout, device, pin_memory, requires_grad, default(), out
        )
        check_normal(options.dtype, std, 1)
        return options.make(shape, stream_normal.normal, stream, mean, std)
    if is_tensor[1]:
        _check_deviations(std)
    made = (mean if is_tensor[0] else std).dtype if out is None else out.dtype
    arrays = [x._array for x in (mean, std) if isinstance(x, _tensor.Tensor)]
    try:
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        raise errors.broadcast(*(x.shape for x in arrays)) from None
    scale = 1.0 if is_tensor[1] else number_of("normal", "std", 2, 1.0 if std is None else std)
    check_normal(made, scale, 1)
    drawn = stream_normal.normal(stream, shape, made.numpy, 0.0, scale)
    if is_tensor[1]:
        drawn = (drawn * std._array).astype(made.numpy, copy=False)
    if is_tensor[0]:
        drawn = drawn + mean._array
    elif mean:  # a number is added in at least float32
        drawn = drawn.astype(np.result_type(drawn, np.float32)) + mean
    drawn = _tensor.wrap(np.asarray(drawn).astype(made.numpy, copy=False))
    if out is not None:
        needs_grad = any(x.requires_grad for x in (mean, std) if isinstance(x, _tensor.Tensor))
        prepare_out("normal", out, out._array.shape, needs_grad)
        return write_out("normal", drawn, out)
    if is_tensor == (True, True):
        return normal_of_both(mean, std, drawn)
    return normal_of_mean(mean, drawn) if is_tensor[0] else normal_of_std(std, drawn)


def _check_form(mean: Any, std: Any, size: Any, is_tensor: tuple[bool, bool]) -> None:
    """Raise unless mean, std and size fit one of the forms of `normal`."""
    fits = [t or _is_number(x) for t, x in zip(is_tensor, (mean, std), strict=True)]
    if size is not None:
        holds = all(fits) and not any(is_tensor) and isinstance(size, (tuple, list))
    elif is_tensor[0]:
        holds = std is None or fits[1]
    else:
        holds = fits[0] and is_tensor[1]
    if holds:
        return
    if mean is None and std is not None:
        raise TypeError('normal() missing 1 required positional arguments: "mean"')
    given = tuple(x for x in (mean, std, size) if x is not None)
    advice = "normal(mean, std) with tensors, one of them may be a number; normal(0, 1, (2, 3))."
    raise mismatch("normal", given, {}, advice)


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.floating, np.integer))


def _check_deviations(std: Any) -> None:
    if std.dtype.is_complex:
        raise errors.advised(
            RuntimeError("normal expects standard deviation to be non-complex"),
            "A deviation is a real number: pass std.abs().",
        )
    if not (std._array >= 0).all():
        raise errors.advised(
            RuntimeError("normal expects all elements of std >= 0.0"),
            "A standard deviation is not negative.",
        )


# --- multinomial -------------------------------------------------------------------------------


def multinomial(
    input: Any,
    num_samples: Any,
    replacement: bool = False,
    *,
    generator: Any = None,
    out: Any = None,
) -> Any:
    """Indices drawn along the last dimension of `input`, as often as its weights say.

    >>> _ = torch.manual_seed(0)
    >>> torch.multinomial(torch.tensor([0.0, 3.0, 1.0]), 4, replacement=True)
    tensor([1, 2, 1, 1])
    """
    require_tensor("multinomial", "input", 1, input)
    stream = stream_of("multinomial", generator)
    if not is_integer(num_samples):
        raise errors.advised(
            TypeError(
                "multinomial(): argument 'num_samples' (position 2) must be int, not "
                f"{type(num_samples).__name__}"
            ),
            "Pass how many indices shall be drawn.",
        )
    if not isinstance(replacement, bool):
        raise errors.advised(
            TypeError(
                "multinomial(): argument 'replacement' (position 3) must be bool, not "
                f"{type(replacement).__name__}"
            ),
            "Say whether an index may be drawn twice.",
        )
    weights, n = input._array, int(num_samples)
    _check_weights(weights, input.dtype, n, replacement)
    if out is None:
        return _tensor.wrap(integer.choice(stream, weights, n, replacement=replacement))
    if out.dtype is not int64:
        raise errors.advised(
            RuntimeError(f"multinomial expects Long tensor out, got: {out.dtype.scalar_name}"),
            "Pass an out= of torch.int64.",
        )
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
        raise errors.advised(RuntimeError(reason), advice)
    rows = weights.reshape(-1, weights.shape[-1])
    is_wrong = ~((rows >= 0) & (rows < np.inf))
    if replacement and n > 1:  # PyTorch looks at row by row, and names what is wrong
        bad = is_wrong.any(axis=-1) | ~(rows.sum(axis=-1, dtype=np.float64) > 0)
        if not bad.any():
            return
        row = int(np.argmax(bad))
        what = "sum of probabilities <= 0"
        if is_wrong[row].any():
            first = rows[row, np.argmax(is_wrong[row])]
            is_negative = first < 0
            what = "encountering probability entry " + (
                "< 0" if is_negative else "= infinity or NaN"
            )
        raise errors.advised(RuntimeError(f"invalid multinomial distribution ({what})"), advice)
    if len(rows) and not rows.shape[-1]:
        raise errors.advised(
            RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has "
                "no identity."
            ),
            advice,
        )
    if is_wrong.any():
        reason = "probability tensor contains either `inf`, `nan` or element < 0"
        raise errors.advised(RuntimeError(reason), advice)
    if (rows.sum(axis=-1, dtype=np.float64) == 0).any():
        reason = "invalid multinomial distribution (sum of probabilities <= 0)"
        raise errors.advised(RuntimeError(reason), advice)


# --- poisson -----------------------------------------------------------------------------------

poisson_draw = replacement("poisson_draw", "PoissonBackward0")


def poisson(input: Any, generator: Any = None) -> Any:
    """Counts of events of which `input` are expected.

    >>> _ = torch.manual_seed(0)
    >>> torch.poisson(torch.full((4,), 5.0))
    tensor([5., 7., 4., 5.])
    """
    require_tensor("poisson", "input", 1, input)
    stream, dtype = stream_of("poisson", generator), input.dtype
    if not dtype.is_floating_point and input._array.size:
        raise not_implemented("poisson_cpu", dtype)
    if not (input._array >= 0).all():
        raise errors.advised(
            RuntimeError("invalid Poisson rate, expected rate to be non-negative"),
            "A rate is a number of events that is expected.",
        )
    return poisson_draw(input, _tensor.wrap(poisson_counts(stream, input._array)))
