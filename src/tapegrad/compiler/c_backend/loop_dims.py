"""The dimensions of a loop: in which order they run, and which of them are one."""

from tapegrad.compiler.c_backend.ir import Access, Reduction, Sizes, Statement, Unsupported


class Dims:
    """Dimensions of a loop after merging.

    Attributes:
        sizes: from the outermost to the innermost
        inner: for each, the dimension of the shape whose stride is its stride
    """

    def __init__(self, sizes: list[int], inner: list[int]):
        self.sizes, self.inner = sizes, inner

    def strides(self, access: Access) -> list[int]:
        """The strides of an access, in elements. Raises Unsupported for parts of elements."""
        size = access.dtype.itemsize
        if any(access.strides[d] % size for d in self.inner):
            raise Unsupported(f"strides {access.strides} of elements of {size} bytes")
        return [access.strides[d] // size for d in self.inner]

    def reduced(self, reduction: Reduction) -> list[bool]:
        """Which dimensions a reduction runs over."""
        return [d in reduction.axes for d in self.inner]


def dims_of(shape: Sizes, accesses: list[Access], statements: list[Statement]) -> Dims:
    """Dimensions of a loop over `shape` that makes `accesses`."""
    order = [d for d in range(len(shape)) if shape[d] != 1]
    order = _by_strides(order, accesses)
    groups = [[d] for d in order]
    reductions = [x for x in statements if isinstance(x, Reduction)]
    i = 0
    while i + 1 < len(groups):
        outer, inner = groups[i][-1], groups[i + 1]
        n = 1
        for d in inner:
            n *= shape[d]
        last = inner[-1]
        together = all(x.strides[outer] == x.strides[last] * n for x in accesses) and all(
            (outer in x.axes) == (last in x.axes) for x in reductions
        )
        if together:
            groups[i] = groups[i] + inner
            del groups[i + 1]
        else:
            i += 1
    sizes = []
    for group in groups:
        n = 1
        for d in group:
            n *= shape[d]
        sizes.append(n)
    return Dims(sizes, [group[-1] for group in groups])


def _by_strides(order: list[int], accesses: list[Access]) -> list[int]:
    """The dimension with the largest strides first, by the access that moves in most of them."""
    if len(order) < 2 or not accesses:
        return order
    moves = [sum(x.strides[d] != 0 for d in order) for x in accesses]
    leading = accesses[max(range(len(accesses)), key=lambda i: (moves[i], i))]
    still = [d for d in order if leading.strides[d] == 0]
    if still:
        return order
    return sorted(order, key=lambda d: -abs(leading.strides[d]))
