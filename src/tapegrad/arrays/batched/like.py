"""Making arrays like batched ones, and converting them."""

from tapegrad.arrays.batched.array import Batched, closed
from tapegrad.arrays.batched.below import below, for_mapped, of_leading_axes, plain
from tapegrad.arrays.kernel import batching_rule
from tapegrad.core.annotations import Any, Array, Callable, NativeDType, Scalar

empty_like = batching_rule(of_leading_axes("empty_like"))
ones_like = batching_rule(of_leading_axes("ones_like"))
zeros_like = batching_rule(of_leading_axes("zeros_like"))
astype = batching_rule(of_leading_axes("astype"))


@batching_rule
def full_like(x: Array, fill_value: Scalar, /, *, dtype: NativeDType = None) -> Any:
    """Each sample filled with a number, or with its own."""
    if type(fill_value) is Batched:
        zeros = zeros_like(x, dtype=dtype)
        return zeros + astype(fill_value, zeros.dtype)
    if type(x) is not Batched:
        return plain("full_like")(x, fill_value, dtype=dtype)
    out = below("full_like", x)(x.value, fill_value, dtype=dtype)
    return closed(x.level, out, x.mapped)


@batching_rule
def asarray(x: Array, /, *, dtype: NativeDType = None, copy: bool | None = None) -> Any:
    """`x` as an array: a batched one stays one."""
    if type(x) is not Batched:
        return plain("asarray")(x, dtype=dtype, copy=copy)
    if dtype is not None and dtype != x.dtype:
        return astype(x, dtype)
    return copied(x, "K") if copy else x


@batching_rule
@for_mapped
def copied(kernel: Callable, x: Array, order: Any) -> Any:
    """A copy in an order of memory, which is that of each sample."""
    return kernel(x.value, (0, *[a + 1 for a in order]) if type(order) is tuple else order)
