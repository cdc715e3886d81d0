"""Products of matrices in groups, as the experts of a mixture have them; products of integers."""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bfloat16, float16, float32, int8, int32, uint8
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import IN_USE, lowered
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.creation.zeros_eye import zeros
from tapegrad.operators.linalg.decomposition import transposed as _t
from tapegrad.operators.linalg.matmul_check import dtype_mismatch

__torch__ = "_grouped_mm _int_mm"

# Each derivative is a product in groups again: where slices are those of rows, they are summed over
# in that of the second factor, and the other way round.


@jvp(
    a=lambda xp, t, b, offs: xp.multiply_groups(t, b, offs),
    b=lambda xp, t, a, offs: xp.multiply_groups(a, t, offs),
)
@vjp(
    a=lambda xp, g, b, offs: xp.multiply_groups(g, _t(xp, b), offs),
    b=lambda xp, g, a, offs: xp.multiply_groups(_t(xp, a), g, offs),
)
@primitive(node="GroupedMmBackward0", hidden=("offs",), kernels=("multiply_groups",))
def grouped_product(xp, a, b, offs):
    """A product for each group: matrices of two batches, or slices of matrices up to `offs`."""
    return xp.multiply_groups(a, b, offs)


@tensor_kernel
def multiply_groups(a: Array, b: Array, offs: Array) -> Any:
    """The kernel on tensors, for derivatives of derivatives."""
    return grouped_product(a, b, offs)


@require_tensors
def _grouped_mm(
    input: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Any:
    """`torch.nn.functional.grouped_mm`.

    >>> torch._grouped_mm(torch.ones(2, 3, 4), torch.ones(2, 4, 5)).shape
    torch.Size([2, 3, 5])
    """
    if IN_USE:
        input, mat2 = lowered(input, mat2)
    _check(input, mat2, offs)
    if bias is not None:
        raise errors.runtime_error("Bias not supported yet", "Add it to the result.")
    if out_dtype not in (None, input.dtype):
        raise errors.runtime_error(
            "Grouped gemm output dtype must match `mat_a` dtype", "Convert the result with to()."
        )
    return grouped_product(input, mat2, zeros(0, dtype=int32) if offs is None else offs)


@require_tensors
def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Any = None,
) -> Any:
    """A product for each group, as the experts of a mixture have them.

    Shapes: (G, m, k) and (G, k, n) to (G, m, n); with `offs` (G,), where each group ends, (T, k)
    and (G, k, n) to (T, n), (G, m, k) and (k, T) to (m, T), (m, T) and (T, n) to (G, m, n). What is
    behind the last group is zero.
    Dtypes: float32, bfloat16, float16; `offs` int32.
    Raises: RuntimeError where dtypes or sizes do not fit, for a bias, and for another `out_dtype`
    than that of the matrices.

    >>> x, w = torch.ones(3, 2), torch.tensor([[[1.0], [1.0]], [[2.0], [2.0]]])
    >>> ends = torch.tensor([1, 3], dtype=torch.int32)
    >>> torch.nn.functional.grouped_mm(x, w, offs=ends)
    tensor([[2.],
            [4.],
            [4.]])
    """
    return _grouped_mm(mat_a, mat_b, offs, bias, out_dtype)


def _check(a: Any, b: Any, offs: Any) -> None:
    for name, x in (("mat_a", a), ("mat_b", b)):
        if x.dtype not in (float32, bfloat16, float16):
            raise errors.runtime_error(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got "
                f"{x.dtype.scalar_name}",
                "Convert it with float().",
            )
    for name, x in (("mat_a", a), ("mat_b", b)):
        if x.dim() not in (2, 3):
            raise errors.runtime_error(f"{name} has to be 2 or 3d", f"It has {x.dim()} dimensions.")
    is_sliced = a.dim() == 2 or b.dim() == 2
    if (a.dim() == 3 or b.dim() == 3) and a.shape[-1] != b.shape[-2]:
        raise errors.runtime_error(
            "contraction dimension of mat_a and mat_b must match",
            f"The first has {a.shape[-1]} columns, the second {b.shape[-2]} rows.",
        )
    if is_sliced != (offs is not None):
        raise errors.runtime_error(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d",
            "offs says where the groups of a matrix end.",
        )
    if not is_sliced:
        if a.shape[0] != b.shape[0]:
            raise errors.runtime_error(
                "batched dimension has to match", f"There are {a.shape[0]} and {b.shape[0]} groups."
            )
    else:
        _check_offsets(a, b, offs)
    if a.dtype != b.dtype:
        raise dtype_mismatch(a, b)


def _check_offsets(a: Any, b: Any, offs: Any) -> None:
    if offs.dim() != 1:
        raise errors.runtime_error("offs has to be 1D", "It has a number for each group.")
    if offs.dtype is not int32:
        raise errors.runtime_error("Offsets have to be int32", "Convert them with int().")
    for x in (a, b):
        if x.dim() == 3 and x.shape[0] != offs.shape[0]:
            raise errors.runtime_error(
                "matrix batch sizes have to match",
                f"There are {x.shape[0]} matrices, and offs has {offs.shape[0]} ends of groups.",
            )


@require_tensors
def _int_mm(input: Tensor, mat2: Tensor, *, out: Out = None) -> Any:
    """The product of two matrices of int8, summed up in int32.

    Shapes: (n, k) and (k, m) to (n, m).
    Dtypes: int8, the first uint8 too; the result int32.
    Raises: RuntimeError where dtypes or sizes do not fit.

    >>> torch._int_mm(torch.tensor([[100, 100]]).char(), torch.tensor([[100], [100]]).char())
    tensor([[20000]], dtype=torch.int32)
    """
    dims = input.dim(), mat2.dim()
    for name, n in zip(("self", "mat2"), dims, strict=True):
        if n != 2:
            raise errors.runtime_error(
                f"int_mm_out_cpu: Expected {name} to be of dimension 2 but got {n}",
                "Both are matrices.",
            )
    if input.shape[1] != mat2.shape[0]:
        raise errors.runtime_error(
            "int_mm_out_cpu: self.size(1) needs to match mat2.size(0) but got "
            f"{input.shape[1]} and {mat2.shape[0]}",
            "The first has as many columns as the second has rows.",
        )
    for name, x, allowed in (("self", input, (int8, uint8)), ("mat2", mat2, (int8,))):
        if x.dtype not in allowed:
            raise errors.runtime_error(
                f"int_mm_out_cpu: Expected {name} dtype to be of type int8 but got "
                f"{errors.c_name(x.dtype)}",
                "Convert it with char().",
            )
    return finish("_int_mm", input.to(int32) @ mat2.to(int32), out)
