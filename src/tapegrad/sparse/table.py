"""What operators do with a sparse tensor: functions by the name of PyTorch's operator or method.

An operator that is not in the table raises where it meets a sparse tensor.
"""

from tapegrad.core import errors
from tapegrad.core.annotations import Callable

TABLE: dict[str, Callable] = {}
"""Functions and methods by name: they take what PyTorch's method takes, the tensor first."""

PROPERTIES: dict[str, Callable] = {}
"""Attributes that are no methods."""

COMPRESS: list[Callable] = []
"""What makes a matrix compressed: `compressed.compress`, which stands above those that call it."""

REFUSED: dict[str, tuple[Callable, str]] = {
    name: (errors.runtime_error, text)
    for names, text in {
        "reshape flatten einsum reshape_as ravel unflatten": (
            "reshape is not implemented for sparse tensors"
        ),
        "expand expand_as repeat broadcast_to tile": "expand is unsupported for Sparse tensors",
        "crow_indices col_indices": (
            "crow_indices expected sparse row compressed tensor layout but got Sparse"
        ),
        "contiguous masked_fill": "unsupported memory format option Contiguous",
        "data_ptr tolist": "Cannot access data pointer of Tensor that doesn't have storage",
        "nbytes": (
            "nbytes is not defined for sparse tensors.  If you want the size of the constituent "
            "tensors, add the nbytes of the indices and values.  If you want the size of the  "
            "equivalent dense tensor, multiply numel() by element_size()"
        ),
    }.items()
    for name in names.split()
}
for _name in ("storage", "untyped_storage", "_typed_storage", "as_subclass"):
    _text = "Cannot access storage of SparseTensorImpl"
    REFUSED[_name] = (errors.not_implemented, _text)
for _name in ("numpy", "__array__"):
    _text = "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
    REFUSED[_name] = (errors.type_error, _text)

_LACKING = {
    "mean": "mean.dim", "rsub": "rsub.Scalar", "split": "as_strided", "chunk": "as_strided",
    "narrow": "as_strided", "squeeze": "as_strided", "diag": "diagonal_copy",
    "sort": "sort.stable", "std": "std.correction", "var": "var.correction",
    "inverse": "linalg_inv_ex", "inv": "linalg_inv_ex", "det": "_linalg_det",
    "softmax": "_softmax", "log_softmax": "_log_softmax", "norm": "linalg_vector_norm",
    "vector_norm": "linalg_vector_norm", "matrix_norm": "linalg_vector_norm",
    "fill_": "fill_.Scalar", "logical_not": "logical_not.out", "allclose": "eq.Tensor",
    "__getitem__": "index.Tensor", "__setitem__": "copy_", "__rtruediv__": "reciprocal",
    "__rpow__": "pow.Scalar", "__mod__": "remainder.Tensor", "pow_": "pow_.Scalar",
    "where": "where.self", "lerp": "lerp.Scalar", "scatter": "scatter.value",
    "ones_like": "fill_.Scalar", "full_like": "fill_.Scalar", "rand_like": "uniform_",
    "new_ones": "fill_.Scalar", "count_nonzero": "count_nonzero.dim_IntList",
    "dequantize": "dequantize.self", "__eq__": "eq.Tensor", "__ne__": "ne.Tensor",
    "eq": "eq.Tensor", "ne": "ne.Tensor", "gt": "gt.Scalar", "__gt__": "gt.Scalar",
}  # fmt: skip
"""What PyTorch calls the operator that it finds missing, where that is another name."""


def serves(*names: str) -> Callable:
    """Put a function into the table under `names`."""

    def put(function: Callable) -> Callable:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return put


def has(*names: str) -> Callable:
    """Let a function of a sparse tensor be its attributes `names`."""

    def put(function: Callable) -> Callable:
        PROPERTIES.update(dict.fromkeys(names, function))
        return function

    return put


def refused(name: str, backend: str = "SparseCPU") -> Exception:
    """The error of an operator that sparse tensors do not have."""
    known = REFUSED.get(name) if backend == "SparseCPU" else None
    advice = f"Take to_dense(), or what {name} shall do with values() alone."
    if known is not None:
        return known[0](known[1], advice)
    shown = _LACKING.get(name) or (name.strip("_") if name.startswith("__") else name)
    return errors.not_implemented(
        f"Could not run 'aten::{shown}' with arguments from the '{backend}' backend. This could "
        "be because the operator doesn't exist for this backend, or was omitted during the "
        "selective/custom build process (if using custom build).",
        "Take to_sparse() first." if backend == "CPU" else advice,
    )
