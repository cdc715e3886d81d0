"""Linear: a product with a transposed weight, and a bias."""

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.signature import signature_of
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import version_of
from tapegrad.autograd.saved import CONSTANT, GRAD
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending
from tapegrad.core.tensor_base import wrap
from tapegrad.core.torch_function import overridden
from tapegrad.dispatch.autocast_state import IN_USE, lowered
from tapegrad.operators.linalg.addmm_addmv_addr_addbmm import add_matrix_product, addmm
from tapegrad.operators.linalg.matmul import is_flipped, matmul, mv
from tapegrad.operators.linalg.matmul_check import mismatch, unequal_dtypes
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import transpose_matrix

_addmm: Any = addmm.__wrapped__  # without the boundary, which `linear` itself is
_sum: Any = add_matrix_product.op
_transpose: Any = transpose_matrix.op


@mending
def linear(
    input: Tensor = MISSING, weight: Tensor = MISSING, bias: Tensor | None = None, **names: Any
) -> Any:
    """input @ weight.T + bias.

    Shapes: input (..., in), weight (out, in), bias (out,); result (..., out).
    Raises: RuntimeError where the sizes do not fit.

    >>> linear = torch.nn.functional.linear
    >>> linear(torch.ones(5, 3), torch.ones(2, 3), torch.ones(2)).shape
    torch.Size([5, 2])
    """
    if names:
        return mended(linear, None, (input, weight, bias), names)
    try:
        if IN_USE:
            input, weight, bias = lowered(input, weight, bias)
        if bias is not None:
            result = _of_layer(input, weight, bias)
            if result is not None:
                return result
        n, n_weight = input._array.ndim, weight._array.ndim
        fits = bias is None or bias._array.dtype == weight._array.dtype == input._array.dtype
    except MemoryError as error:
        raise errors.beyond_memory(error) from None
    except AttributeError:
        given = (input, weight) if bias is None else (input, weight, bias)
        again = overridden(linear, given)
        if again is not None:
            return again()
        if weight is MISSING:
            return mended(linear, None, (input, weight, bias), {})
        needed = {"input": input, "weight": weight, "bias": bias}
        if bias is None:
            del needed["bias"]
        errors.need_tensors("linear", **needed)
        raise
    if n == 0 or n_weight != 2 or not fits:
        _check_linear(input, weight, bias)
        if n_weight == 1:
            return matmul(input, weight)
    if n == 1 and bias is not None and is_batched(input._array):
        if input._array.shape[0] == weight._array.shape[1]:
            return mv(weight, input) + bias
    transposed = weight.t()
    if bias is None:
        return matmul(input, transposed)
    shape = input._array.shape
    if n == 2:
        return _addmm(bias, input, transposed)
    if n == 0 or shape[-1] != transposed._array.shape[0]:
        rows = input._array.size // shape[-1] if n and shape[-1] else 1
        raise mismatch((rows, shape[-1] if n else 1), transposed._array.shape)
    if n > 2 and not input.is_contiguous():
        return matmul(input, transposed) + bias
    rows = input.reshape(-1, shape[-1]) if n > 1 and input._array.size else input
    if rows._array.ndim != 2:
        if n > 1:
            return matmul(input, transposed) + bias
        rows = input.unsqueeze(0)
    result = _addmm(bias, rows, transposed)
    return result.view(*shape[:-1], transposed._array.shape[1])


# --- the layer of a model: a small one costs what Python costs ------------------------------------

_MOST = 4096  # triples remembered: forgetting them costs a layer a look, no more
_results: dict[tuple, Any] = {}
"""That of the result by the signatures of rows, weight and bias; False where they do not fit."""


def _of_layer(input: Any, weight: Any, bias: Any) -> Any:
    """The sum of a product with the transpose of `weight`, with what both ask known before.

    It records the same two nodes. None where the parameters are views, where something does not
    fit, and under a mode that takes part.
    """
    mode = MODE.get()
    if (mode is not True and mode is not False) or not (weight._view is bias._view is None):
        return None
    signatures = _signature(input), _signature(weight), _signature(bias)
    signature = _results.get(signatures)
    if signature is None:
        if len(_results) >= _MOST:
            _results.clear()
        signature = _results[signatures] = _signature_of_result(*signatures)
    if signature is False:
        return None
    w = weight._array.T
    y = numpy_namespace.add_product(bias._array, input._array, w)
    result = wrap(y)
    result._signature = signature
    first, second, third = bias._node, edge_of(input), weight._node
    if mode is False or first is second is third is None:
        return result
    if third is None:
        transposed = transpose_matrix(weight)
    else:
        transposed = wrap(w)
        third = _plan(_transpose, GRAD).node_of_small(weight, third, transposed)
        transposed._node, transposed._counter = third, version_of(weight)
    kinds = CONSTANT if first is None else GRAD
    kinds += CONSTANT if second is None else GRAD
    kinds += CONSTANT if third is None else GRAD
    inputs, edges = (bias, input, transposed), (first, second, third)
    params = {"beta": 1, "alpha": 1, "flipped": is_flipped(transposed)}
    result._node = _plan(_sum, kinds).node_of_call(inputs, edges, params, (result,), None, True)
    return result


def _signature(x: Any) -> Any:
    found = x._signature
    if found is None:
        found = x._signature = signature_of(x._array)
    return found


def _signature_of_result(rows: Any, weight: Any, bias: Any) -> Any:
    if rows is False or weight is False or bias is False:
        return False
    shape, sizes = rows.like.shape, weight.like.shape
    if not (rows.dtype is weight.dtype is bias.dtype) or not len(shape) == len(sizes) == 2:
        return False
    if shape[1] != sizes[1] or bias.like.shape != sizes[:1]:
        return False
    return signature_of(np.empty((shape[0], sizes[0]), rows.dtype))


def _plan(op: Any, kinds: str) -> Any:
    """The plan of ordinary calls of an operator."""
    return op.quick.get(kinds) or op.quick.setdefault(kinds, op.plan(kinds, False, numpy_namespace))


def _check_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    n, n_weight = input._array.ndim, weight._array.ndim
    if n_weight > 2:
        text = f"t() expects a tensor with <= 2 dimensions, but self is {n_weight}D"
        raise errors.runtime_error(text, "The weight is a matrix (out_features, in_features).")
    if n == 0 or n_weight == 0:
        text = f"both arguments to linear need to be at least 1D, but they are {n}D and {n_weight}D"
        advice = "The last dimension of the input is the one that is summed."
        raise errors.runtime_error(text, advice)
    if n_weight == 1 and bias is not None:
        text = "mat2 must be a matrix, got 1-D tensor"
        raise errors.runtime_error(text, "The weight is a matrix (out_features, in_features).")
    if bias is not None and input._array.dtype != weight._array.dtype:
        if bias._array.dtype == weight._array.dtype:
            advice = (
                f"Convert the input with .to({weight.dtype}), or the module: .to({input.dtype})."
            )
            raise unequal_dtypes("mat1 and mat2", input, weight, advice)
