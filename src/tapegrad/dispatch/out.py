"""`out=`: a result put where the caller says."""

from typing import Any

import numpy as np

from tapegrad.autograd.mode import MODE, is_grad_enabled
from tapegrad.autograd.writable import cannot_cast, check_out, check_storable
from tapegrad.core import errors, tensor_base
from tapegrad.core.dtype import of
from tapegrad.core.errors import warn
from tapegrad.core.memory_format import is_dense
from tapegrad.core.promote_types import can_cast
from tapegrad.core.registration import NO_FORMULA
from tapegrad.core.storage import grown_like
from tapegrad.dispatch.in_place import write, written
from tapegrad.dispatch.op import REGISTRY

_EXACT = "Expected out tensor to have dtype {made_c}, but got {given_c} instead"
_SCALAR = "expected scalar_type {made} but found {given}"
_POINTWISE = "Found dtype {given} but expected {made}"
_OF_TRUTH = "{name} does not support non-boolean outputs."
_MEDIAN = (
    "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
    "torch.{given}Tensor does not equal torch.{made}Tensor (while checking arguments for median)",
    "Expected tensor for argument #1 'indices' to have scalar type {made}; but got "
    "torch.{given}Tensor instead (while checking arguments for median)",
)

_WANTED = dict.fromkeys(
    (
        "addbmm addmm addmv argmax argmin baddbmm bmm cross diag gather index_add index_copy "
        "inverse linalg_cross linalg_inv linalg_solve log_softmax matmul mm renorm scatter "
        "scatter_add scatter_reduce softmax take_along_dim tril triu argsort alias_copy "
        "as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy slice_copy "
        "squeeze_copy t_copy transpose_copy unfold_copy unsqueeze_copy view_copy"
    ).split(),
    _EXACT,
) | {
    **dict.fromkeys(
        "bitwise_not ceil conj_physical fix floor frac neg negative round sgn sign trunc".split(),
        _POINTWISE,
    ),
    **dict.fromkeys("isneginf isposinf signbit".split(), _OF_TRUTH),
    **dict.fromkeys(
        ("adaptive_avg_pool2d", "adaptive_avg_pool3d"),
        "expected dtype {made_c} for `output` but got dtype {given_c}",
    ),
    "complex": "Expected object of scalar type {made} but got scalar type {given} for argument "
    "'out'",
    "dot": "result dtype {given} does not match input dtype {made}",
    "index_select": "index_select(): self and result must have the same scalar type",
    "inner": "tensordot: Expected the output tensor to have dtype {made}, but got an output tensor "
    "with dtype {given}",
    "masked_select": "masked_select(): self and result must have the same scalar type",
    "mv": "addmv input tensors must have the same dtype, but got {given}, {made}, and {made}",
    "nonzero": "nonzero: Expected out tensor to have scalar type {made} but got scalar type{given}",
    "nonzero_static": "nonzero_static: Expected out tensor to have scalar type {made} but got "
    "scalar type{given}",
    "polar": "Expected object of scalar type {made} but got scalar type {given} for argument 'out'",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {made} and "
    "out.dtype = {given}",
    "vdot": "result dtype {given} does not match input dtype {made}",
    "where": "Expected out type to be {made} but got {given}",
}
"""What is said by functions that convert nothing: `out` must have the dtype of the result."""

_WANTED_OF_PAIR = {
    **dict.fromkeys(
        (
            "adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d"
        ).split(),
        (_EXACT, _EXACT),
    ),
    "cummax": (_SCALAR, _SCALAR),
    "cummin": (_SCALAR, _SCALAR),
    "kthvalue": (
        "output values must be of same type as input",
        "output indices must be of scalar type {made}",
    ),
    "max": (_EXACT, _EXACT),
    "median": _MEDIAN,
    "min": (_EXACT, _EXACT),
    "mode": (
        "expected scalar type '{made}' but got '{given}' for values output",
        "expected scalar type '{made}' but got '{given}' for indices output",
    ),
    "nanmedian": _MEDIAN,
    "sort": (_EXACT, _EXACT),
    "topk": (_EXACT, _EXACT),
}
"""The same of values and indices."""


_CONSTANT = frozenset(
    "eq ge gt isneginf isposinf le logical_and logical_not logical_or logical_xor lt ne "
    "signbit".split()
)
"""Functions without derivatives: what they write has no part in a graph."""


_COPIED = frozenset(
    "inner linalg_cond linalg_matrix_norm linalg_norm nanquantile quantile special_ndtr "
    "tensordot".split()
)
"""Functions whose result is copied to `out`, which becomes a part of the graph by it."""

_PASSED_BY = {
    **{name: name for name in _WANTED if name.endswith("_copy")},
    **{name: name for name in ("adaptive_avg_pool2d", "adaptive_avg_pool3d")},
    **{name: name for name in ("conj_physical", "floor_divide", "heaviside")},
    **{name: name for name in ("log_softmax", "softmax")},
    "diag": "diagonal_copy",
}
"""Functions whose `out` is in the graph without a derivative, by the names those have there."""


def _node_without_formula(name: str, result: Any, out: Any) -> Any:
    """The node that stands behind `out`, or None where nothing that requires grad was read."""
    if out.requires_grad:
        raise errors.out_in_graph(f"aten::{_PASSED_BY[name]}")
    if out._view is not None:
        raise errors.out_in_graph(name)
    return NO_FORMULA().in_graph(_PASSED_BY[name], (result,), result)[0]._node


def _check_dtype(name: str, message: str, result: Any, out: Any) -> None:
    made, given = result.dtype, getattr(out, "dtype", None)
    if made is given or given is None:
        return
    text = message.format(
        name=name,
        made=made.scalar_name,
        given=given.scalar_name,
        made_c=errors.c_name(made),
        given_c=errors.c_name(given),
    )
    raise errors.runtime_error(text, f"Give an out tensor of dtype {made}.")


def _steps(name: str, array: Any) -> tuple | None:
    """The strides of a tensor that takes the shape of a result: its own where PyTorch keeps them,
    as pointwise operators, sorting and inverses do; None if it is row-major."""
    op = REGISTRY.get(name)
    kept = name in _ORDERED or (op is not None and op.kind in ("elementwise", "constant"))
    if not kept or type(array) is not np.ndarray or array.ndim < 2 or not is_dense(array):
        return None
    return tuple([step // array.itemsize for step in array.strides])


_ORDERED = frozenset(
    "gelu hardshrink inverse lerp linalg_inv msort softplus softshrink sort threshold".split()
)


def write_out(name: str, result: Any, out: Any, *inputs: Any) -> Any:
    """Write a result where `out=` says: resized if it must be, of few functions part of a graph.

    It must not lie in a part of the memory of `inputs`.
    """
    if isinstance(out, (tuple, list)):
        for each in out:
            check_out(each, *inputs)
        for message, r, o in zip(_WANTED_OF_PAIR.get(name, ()), result, out, strict=False):
            _check_dtype(name, message, r, o)
        results = tuple(write_out(name, r, o) for r, o in zip(result, out, strict=True))
        return type(result)(results) if hasattr(result, "_fields") else results
    if not isinstance(out, tensor_base.Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    check_out(out, *inputs)
    is_copy = name.endswith("_copy")
    if is_copy and name in _WANTED:
        _check_dtype(name, _WANTED[name], result, out)
    in_graph = result.requires_grad or (out.requires_grad and name not in _CONSTANT)
    in_graph = in_graph and is_grad_enabled()
    node = None
    if in_graph and name in _PASSED_BY:
        node = _node_without_formula(name, result, out)
    elif in_graph and name not in _COPIED:
        raise errors.out_in_graph(name)
    mode = MODE.get()
    if type(mode) is not bool:
        mode.check_out(name, result, out)
    have, want = of(result._array.dtype), of(out._array.dtype)
    if name in _WANTED and not is_copy:
        _check_dtype(name, _WANTED[name], result, out)
    if not can_cast(have, want):
        raise cannot_cast(have, want, f"Give an out tensor of dtype {have}.", name)
    check_storable(out)
    if out._array.shape != result._array.shape:
        if out._array.size:
            warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out._array.shape)}, which does not match the required output shape "
                f"{list(result._array.shape)}. This behavior is deprecated, and in a future "
                "PyTorch release outputs will not be resized unless they have zero elements. You "
                "can explicitly reuse an out tensor t by resizing it, inplace, to zero elements "
                "with t.resize_(0).",
                3,
            )
        out._array = grown_like(out._array, result._array.shape, _steps(name, result._array))
        out._signature = None
    if in_graph and node is None:
        return out.copy_(result)
    write(out._array, result._array)
    written(out, name)
    if node is not None:
        out._node = node
    return out
