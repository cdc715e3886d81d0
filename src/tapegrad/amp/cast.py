"""Casting what goes into a function, in a block of autocast.

Cast are tensors of floating-point numbers of 32 bits or fewer; a cast is an operator of its own, so
that gradients come back in the dtype of what was cast. Parameters are cast once for each outermost
block, however often they are used in it.
"""

import weakref
from collections.abc import Callable, Iterator
from typing import Any

from tapegrad.autograd.mode import MODE, enable_grad, is_inference
from tapegrad.core import errors
from tapegrad.core.dtype import bfloat16, float16, float32
from tapegrad.core.tensor_base import TensorBase
from tapegrad.dispatch.autocast_state import STATE
from tapegrad.operators.conversion.to_type import to_copy

LOWER = """
    addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
    conv_transpose3d linear lstm matmul mm prelu rnn_relu rnn_tanh scaled_dot_product_attention
    vecdot
"""
"""Products: in the dtype of the block, bfloat16 unless it says otherwise."""

FLOAT32 = """
    adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy
    binary_cross_entropy_with_logits cdist cholesky cholesky_ex cholesky_inverse cholesky_solve cond
    cosine_embedding_loss cross_entropy ctc_loss eig eigh eigvals eigvalsh fft fft2 fftn
    fractional_max_pool2d fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d
    hfft hinge_embedding_loss householder_product huber_loss ifft ifft2 ifftn ihfft inv inv_ex
    inverse irfft irfft2 irfftn kl_div l1_loss lstsq lu_solve margin_ranking_loss matrix_rank
    max_pool3d max_unpool2d max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss
    nanquantile nll_loss orgqr ormqr pinverse poisson_nll_loss polar prod qr quantile
    reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d rfft
    rfft2 rfftn smooth_l1_loss soft_margin_loss solve stft svd svdvals tensorinv tensorsolve trace
    triangular_solve triplet_margin_loss view_as_complex
"""
"""Sums of many numbers, and what needs every digit: in float32, for arguments of 16 bits."""

WIDEST = "cat index_copy stack"
"""Several tensors into one: in the widest dtype among them."""

PRECISION: dict[str, str] = {
    **dict.fromkeys(LOWER.split(), "lower"),
    **dict.fromkeys(FLOAT32.split(), "float32"),
    **dict.fromkeys(WIDEST.split(), "widest"),
}
"""For each function, what its arguments are cast to: "lower", "float32", "widest"."""


_FLOATS = (float32, float16, bfloat16)


def call_in_precision(name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
    """`function` with its tensors in the precision of the table; inside it autocast is off."""
    state = STATE.get()
    if state is None or "cpu" not in state.enabled or kwargs.get("out") is not None:
        return function(*args, **kwargs)
    precision = PRECISION[name]
    if precision == "lower":
        dtype = state.dtypes["cpu"]
    elif precision == "float32":
        dtype = float32
    else:
        dtype = widest_dtype((*args, *kwargs.values()), state.dtypes["cpu"])
    args = tuple([cast_value(x, dtype) for x in args])
    kwargs = {key: cast_value(x, dtype) for key, x in kwargs.items()}
    with switched_off():
        return function(*args, **kwargs)


class switched_off:
    """A block without autocast; the state is the same again after it."""

    __slots__ = ("token",)

    def __enter__(self) -> None:
        state = STATE.get()
        self.token = STATE.set(None if state is None else state.changed("cpu", enabled=False))

    def __exit__(self, *error: object) -> None:
        STATE.reset(self.token)


def cast_value(x: Any, dtype: Any) -> Any:
    """`x` in `dtype`, a tensor or tensors in a list; itself where there is nothing to cast."""
    if isinstance(x, TensorBase):
        have = x.dtype
        return x if have is dtype or have not in _FLOATS else _cast(x, dtype)
    if type(x) in (list, tuple):
        found = [cast_value(each, dtype) for each in x]
        return found if type(x) is list else tuple(found)
    return x


def _cast(x: Any, dtype: Any) -> Any:
    """A tensor in another dtype, from the cache of the block where it is a parameter."""
    state = STATE.get()
    if (
        x.dtype is not float32
        or dtype is not state.dtypes["cpu"]
        or not state.cache_enabled
        or not (x.requires_grad and x.is_leaf and x._view is None)
        or is_inference(MODE.get())
    ):
        return to_copy(x, dtype=dtype)
    key = (id(x), dtype)
    entry = state.cache.get(key)
    version = 0 if x._counter is None else x._counter.value  # a first write makes the counter
    if entry is not None and entry[0]() is x and entry[1] == version and entry[2] is x._array:
        return entry[3]
    with enable_grad():  # whoever uses it next may record
        found = to_copy(x, dtype=dtype)
    state.cache[key] = (weakref.ref(x), version, x._array, found)
    return found


def widest_dtype(values: tuple, lower: Any) -> Any:
    """The widest dtype of the tensors that can be cast; `lower` where there is none."""
    found = lower
    for x in _tensors(values):
        dtype = x.dtype
        if dtype not in _FLOATS or dtype is found:
            continue
        if dtype is float32 or found is float32:
            found = float32
        else:
            raise errors.runtime_error(
                "Unexpected floating ScalarType in at::autocast::prioritize",
                "float16 and bfloat16 meet: convert one of them.",
            )
    return found


def _tensors(values: Any) -> Iterator[Any]:
    for x in values:
        if isinstance(x, TensorBase):
            yield x
        elif type(x) in (list, tuple):
            yield from _tensors(x)
