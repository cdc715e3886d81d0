"""`out=`: a result put where the caller says."""

from typing import Any

import numpy as np

from tapegrad.arrays.namespaces import namespace_of, native_dtype
from tapegrad.autograd.mode import MODE, is_grad_enabled
from tapegrad.autograd.writable import cannot_cast, check_inference, check_out, check_storable
from tapegrad.core import errors, tensor_base
from tapegrad.core.dtype import bool_, of
from tapegrad.core.errors import warn
from tapegrad.core.memory_format import is_dense
from tapegrad.core.promote_types import can_cast, promote
from tapegrad.core.registration import NO_FORMULA
from tapegrad.core.storage import grown_like
from tapegrad.dispatch.in_place import write, written
from tapegrad.dispatch.op import REGISTRY

_EXACT = "Expected out tensor to have dtype {made_c}, but got {given_c} instead"
_SCALAR = "expected scalar_type {made} but found {given}"
_POINTWISE = "Found dtype {given} but expected {made}"
_OF_TRUTH = "{name} does not support non-boolean outputs."
_MULTI_DOT = "multi_dot(): expected out tensor to have dtype {made_c} but got {given_c}"
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
        "linalg_cholesky linalg_det linear msort mv scatter_add scatter_reduce slice_scatter "
        "softmax spmm take_along_dim tril triu argsort alias_copy as_strided_copy detach_copy "
        "diagonal_copy expand_copy permute_copy select_copy slice_copy squeeze_copy t_copy "
        "transpose_copy unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy"
    ).split(),
    _EXACT,
) | {
    **dict.fromkeys(
        (
            "abs bitwise_not ceil conj_physical fix floor frac gelu hardshrink lerp neg negative "
            "round sgn sign softplus softshrink threshold trunc"
        ).split(),
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
    "heaviside": "heaviside is not yet implemented for tensors with different dtypes.",
    "index_select": "index_select(): self and result must have the same scalar type",
    "inner": "tensordot: Expected the output tensor to have dtype {made}, but got an output tensor "
    "with dtype {given}",
    "linalg_multi_dot": _MULTI_DOT,
    "linalg_solve_triangular": "expected scalar type {made} but found {given}",
    "linalg_vecdot": "linalg.vecdot: Expected out of dtype{made} but found {given}",
    "log_sigmoid": _SCALAR,
    "masked_select": "masked_select(): self and result must have the same scalar type",
    "nan_to_num": "nan_to_num: dtype of out: {given} should be same as input: {made}",
    "nonzero": "nonzero: Expected out tensor to have scalar type {made} but got scalar type{given}",
    "nonzero_static": "nonzero_static: Expected out tensor to have scalar type {made} but got "
    "scalar type{given}",
    "polar": "Expected object of scalar type {made} but got scalar type {given} for argument 'out'",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {made} and "
    "out.dtype = {given}",
    "tensordot": "tensordot: Expected the output tensor to have dtype {made}, but got an output "
    "tensor with dtype {given}",
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


_TRUTHS = frozenset(
    "eq ge gt isneginf isposinf le logical_and logical_not logical_or logical_xor lt ne "
    "signbit".split()
)
_POLYNOMIALS = frozenset(
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
    "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w".split()
)
_CONSTANT = (
    _TRUTHS
    | _POLYNOMIALS
    | frozenset(
        "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 "
        "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
        "spherical_bessel_j0".split()
    )
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
    **{
        name: name
        for name in (
            "bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor "
            "conj_physical floor_divide gcd heaviside lcm"
        ).split()
    },
    **{name: name for name in ("log_softmax", "softmax")},
    "diag": "diagonal_copy",
}
"""Functions whose `out` is in the graph without a derivative, by the names those have there."""


def check_no_graph(name: str, out: Any, *inputs: Any) -> None:
    """Raise for an `out` beside a tensor with a graph, before the arguments are looked at."""
    if out is not None and is_grad_enabled():
        if any(getattr(x, "requires_grad", False) for x in (*inputs, out)):
            raise errors.out_in_graph(name)


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
    "gelu hardshrink inverse lerp linalg_inv msort nonzero softplus softshrink sort "
    "threshold".split()
)


def _wanted(name: str, inputs: tuple) -> str | None:
    """What is said of an `out` that has not the dtype of the result, where that is refused."""
    if name in _CLAMPS and not any(isinstance(x, tensor_base.TensorBase) for x in inputs[1:]):
        return _POINTWISE
    return _WANTED.get(_plain(name))


_CLAMPS = frozenset(("clamp", "clamp_min", "clamp_max"))


def _check(name: str, result: Any, out: Any, inputs: tuple, read: tuple) -> tuple[bool, Any]:
    """Raise for an `out` that does not take `result`, computed from `inputs`.

    Gives whether it becomes part of a graph, and the node behind it where that has no derivative.
    It must not lie in a part of the memory of what is `read`.
    """
    if not isinstance(out, tensor_base.Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    check_out(out, *read)
    wanted = _wanted(name, inputs)
    in_graph = result.requires_grad or (out.requires_grad and _plain(name) not in _CONSTANT)
    in_graph = in_graph and is_grad_enabled()
    node = None
    if in_graph and name in _PASSED_BY:
        node = _node_without_formula(name, result, out)
    elif in_graph and name not in _COPIED:
        raise errors.out_in_graph(name)
    check_inference(out)
    mode = MODE.get()
    if type(mode) is not bool:
        mode.check_out(name, result, out)
    have, want = of(result._array.dtype), of(out._array.dtype)
    if _is_pointwise(name) and wanted is not _OF_TRUTH:
        check_storable(out)
    if name.endswith("_copy"):
        _check_room(result, out)
    if wanted is not None:
        _check_dtype(name, wanted, result, out)
    if not can_cast(have, want):
        raise cannot_cast(have, want, f"Give an out tensor of dtype {have}.", name)
    check_storable(out)
    return in_graph, node


def _check_room(result: Any, out: Any) -> None:
    """Raise for memory that would have to grow, and cannot."""
    if out._array.shape != result._array.shape:
        grown_like(out._array, result._array.shape, None, out.storage_offset())


def _plain(name: str) -> str:
    return name.removeprefix("special_")


def _operator(name: str) -> Any:
    return REGISTRY.get(name) or REGISTRY.get(_plain(name))


def _is_pointwise(name: str) -> bool:
    if _WANTED.get(_plain(name)) is _POINTWISE or name in _CLAMPS or _plain(name) in _POLYNOMIALS:
        return True
    op = _operator(name)
    return op is not None and op.kind in ("elementwise", "constant") and op.promote is not None


def check_before_kernel(name: str, inputs: tuple, out: Any) -> None:
    """Raise for an `out` that does not take what a kernel, which failed, was to compute.

    PyTorch looks at that before it calls the kernel, which may lack the dtype.
    """
    made = _like_result(name, inputs)
    if made is None or not isinstance(out, tensor_base.Tensor):
        return
    _check(name, made, out, inputs, inputs if _is_pointwise(name) else ())
    _check_room(made, out)


def _like_result(name: str, inputs: tuple) -> Any:
    """A tensor like the result, of no values; None where that is not known beforehand."""
    op = _operator(name)
    if name in _LIKE_FIRST:
        operands = inputs[:1]
    elif _is_pointwise(name) and not (op and op.output_names):
        operands = inputs[: len(op.inputs)] if op else inputs
        if _WANTED.get(_plain(name)) is _POINTWISE or name in _CLAMPS:
            operands = tuple(x for x in operands if isinstance(x, tensor_base.TensorBase))
    else:
        return None
    arrays = [getattr(x, "_array", x) for x in operands]
    dtype = promote(arrays)
    if name in _TRUTHS:
        dtype = bool_
    try:
        shape = np.broadcast_shapes(*(getattr(x, "shape", ()) for x in arrays))
    except ValueError:
        return None
    kind = native_dtype(namespace_of(tuple(x for x in arrays if hasattr(x, "dtype"))), dtype)
    made = tensor_base.wrap(np.broadcast_to(np.empty((), kind), shape))
    with_grad = any(getattr(x, "requires_grad", False) for x in operands)
    if with_grad and made.dtype.category > 1 and _plain(name) not in (*_CONSTANT, *_PASSED_BY):
        made.requires_grad = True
    return made


_LIKE_FIRST = frozenset("inverse linalg_cholesky linalg_inv log_softmax softmax".split())
"""Functions whose result is like their first argument."""


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
    in_graph, node = _check(name, result, out, inputs, inputs)
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
        steps = _steps(name, result._array)
        out._array = grown_like(out._array, result._array.shape, steps, out.storage_offset())
        out._signature = None
    if in_graph and node is None:
        return out.copy_(result)
    write(out._array, result._array)
    written(out, name)
    if node is not None:
        out._node = node
    return out
