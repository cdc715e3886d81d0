"""Linear: a product with a transposed weight, and a bias."""

from tapegrad.arrays.namespaces import is_batched
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending
from tapegrad.core.torch_function import overridden
from tapegrad.dispatch.autocast_state import IN_USE, lowered
from tapegrad.operators.linalg.addmm_addmv_addr_addbmm import add_matrix_product, addmm
from tapegrad.operators.linalg.matmul import is_flipped, matmul, mv
from tapegrad.operators.linalg.matmul_check import mismatch, unequal_dtypes

_addmm: Any = addmm.__wrapped__  # without the boundary, which `linear` itself is


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
        n, n_weight = input._array.ndim, weight._array.ndim
        fits = bias is None or bias._array.dtype == weight._array.dtype == input._array.dtype
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
    shape, sizes = input._array.shape, weight._array.shape
    if n == 2:
        # what `addmm` would ask, in one question: all of it costs as much as the bias of a layer
        if shape[1] == sizes[1] and bias._array.shape == sizes[:1] and 0 not in sizes and fits:
            if weight._array.dtype.kind == "f":
                flipped = is_flipped(transposed)
                return add_matrix_product(bias, input, transposed, beta=1, alpha=1, flipped=flipped)
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
