"""Quantiles: the element at a given rank, or between two."""

from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Dim, Out, Tensor
from tapegrad.core.dtype import float32, float64, int64
from tapegrad.core.family import family
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.creation.tensor import tensor
from tapegrad.operators.indexing.gather_index_select import gather
from tapegrad.operators.pointwise.addcmul_addcdiv_lerp import lerp
from tapegrad.operators.pointwise.where_clamp import where
from tapegrad.operators.reduction.sort_topk import sort

__torch__ = "nanquantile quantile"

_MODES = ("linear", "lower", "higher", "midpoint", "nearest")
_MOST = 16_000_000  # elements along the dimension, so many as PyTorch takes


def _refused(problem: str, advice: str) -> RuntimeError:
    return errors.runtime_error(f"quantile() {problem}", advice)


def _as_tensor(name: str, input: Tensor, q: int, rest: dict) -> Any:
    """`q` as a tensor of the input's dtype."""
    if hasattr(q, "_array"):
        return q
    if isinstance(q, bool) or not isinstance(q, (int, float)):
        options = 'int dim = None, bool keepdim = False, *, str interpolation = "linear", '
        forms = tuple(f"Tensor input, {kind} q, {options}Tensor out = None" for kind in _KINDS)
        raise errors.invalid_combination(name, (input, q), rest, forms)
    if not 0 <= q <= 1:
        raise _refused(f"q must be in the range [0, 1] but got {q:g}", "0.5 is the median.")
    dtype = input.dtype if input.dtype.is_floating_point else None
    return tensor(q, dtype=dtype, device=input.device)


_KINDS = ("Tensor", "float")


def _check(input: Tensor, q: Any, interpolation: str, out: Out) -> None:
    if interpolation not in _MODES:
        raise _refused(
            "interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}",
            "It says what lies between two elements.",
        )
    if not input._array.size:
        raise _refused("input tensor must be non-empty", "Of nothing there is no quantile.")
    if q._array.ndim > 1:
        raise _refused("q must be a scalar or 1D tensor", "flatten() it.")
    if input.dtype not in (float32, float64):
        text = "input tensor must be either float or double dtype"
        raise _refused(text, "Convert it: x.float().")
    if q.dtype is not input.dtype:
        text = "q tensor must be same dtype as the input tensor"
        raise _refused(text, f"Convert it with .to({input.dtype}).")
    if out is not None and getattr(out, "dtype", None) is not input.dtype:
        text = "out tensor must be same dtype as the input tensor"
        raise _refused(text, f"Give one of {input.dtype}.")


def _in_last(input: Tensor, axis: int | None) -> Any:
    """The input with the axis of the quantile last; None: all elements in one."""
    if axis is None:
        return input.flatten()
    if not input._array.ndim or axis == input._array.ndim - 1:
        return input.reshape(1) if not input._array.ndim else input
    return input.unsqueeze(-1).transpose(axis, -1)


@family
def _quantile(name: str, ignore_nan: bool) -> Callable:
    def quantile(
        input: Tensor,
        q: Any,
        dim: Dim = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
        out: Out = None,
    ) -> Any:
        given = {"interpolation": interpolation} if interpolation != "linear" else {}
        q = _as_tensor(name, input, q, given)
        _check(input, q, interpolation, out)
        quantiles = elements(q._array)
        if (quantiles < 0).any() or (quantiles > 1).any():
            raise _refused("q values must be in the range [0, 1]", "0.5 is the median.")
        axis = None if dim is None else axis_of(dim, input._array.ndim)
        shape = _result_shape(input._array.shape, axis, keepdim)
        ranked = sort(_in_last(input, axis))[0]
        n = ranked._array.shape[-1]
        if n > _MOST:
            raise _refused("input tensor is too large", f"At most {_MOST:,} elements.")
        found = _at(ranked, _ranks(ranked, q, n, ignore_nan), interpolation)  # (..., quantiles)
        if not q._array.ndim:
            return finish(name, found.reshape(shape), out)
        return finish(name, found.movedim(-1, 0).reshape((q._array.size, *shape)), out)

    return quantile


def _result_shape(shape: tuple, axis: int | None, keepdim: bool) -> tuple:
    if axis is None:
        return (1,) * len(shape) if keepdim else ()
    if not shape:
        return ()
    return (*shape[:axis], *((1,) if keepdim else ()), *shape[axis + 1 :])


def _ranks(ranked: Any, q: Any, n: int, ignore_nan: bool) -> Any:
    """Where in each sorted row a quantile is, a fraction; nan, which is last, draws it there."""
    ranks = q.reshape(-1)
    is_nan = ranked.detach().isnan()
    if ignore_nan:
        known = (~is_nan).sum(-1, keepdim=True)
        ranks = ranks * (known - 1)
        return ranks.masked_fill(ranks < 0, 0)
    last = n - 1
    ranks = ranks * last
    return where(is_nan.any(-1, keepdim=True), float(last), ranks)


def _at(ranked: Any, ranks: Any, interpolation: str) -> Any:
    """The elements at `ranks`, or what lies between two of them."""
    if interpolation == "higher":
        return gather(ranked, -1, ranks.ceil().to(int64))
    if interpolation == "nearest":
        return gather(ranked, -1, ranks.round().to(int64))
    below = ranks.to(int64)
    values = gather(ranked, -1, below)
    if interpolation == "lower":
        return values
    weights = ranks - below if interpolation == "linear" else ranks * 0 + 0.5
    return lerp(values, gather(ranked, -1, ranks.ceil().to(int64)), weights)


@autocast
@_quantile("quantile", False)
def quantile() -> Any:
    """The number below which the part `q` of the elements lies, of all or along `dim`.

    With a vector `q` the quantiles are the first dimension. A quantile at a rank r = q (n - 1)
    that is no whole number is interpolated: "linear", or the element "lower", "higher", "nearest",
    or the "midpoint" of the two. With nan among the elements it is nan.

    Shape: (*that of q, *the input's without `dim`), with `keepdim` of size 1 there.
    Raises: RuntimeError for a `q` outside of [0, 1], or another dtype than float32 and float64.

    >>> torch.quantile(torch.tensor([3.0, 1.0, 2.0, 4.0]), 0.5)
    tensor(2.5000)
    """


@autocast
@_quantile("nanquantile", True)
def nanquantile() -> Any:
    """The same as `quantile`, of the elements that are not nan.

    Shape: that of `quantile`.

    >>> torch.nanquantile(torch.tensor([3.0, float("nan"), 2.0, 4.0]), 0.5)
    tensor(3.)
    """
