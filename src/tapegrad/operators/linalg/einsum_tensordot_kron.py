"""Sums of products over named indices: einsum, tensordot, kron, trace."""

from collections import Counter
from math import prod

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_, int64
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.linalg.dot_vdot import dot
from tapegrad.operators.linalg.matmul import bmm
from tapegrad.operators.shape.reshape_flatten_atleast import unsafe_view

__torch__ = "einsum kron tensordot trace"


@overridable
def einsum(*args: object) -> Any:
    """The sum of products that an equation names: einsum("ij,jk->ik", a, b).

    Index letters that the output lacks are summed over; `...` stands for any dimensions, which
    broadcast; without `->` the output has the letters that occur once, in alphabetical order.
    Operands may also come with lists of numbers: einsum(a, [0, 1], b, [1, 2], [0, 2]).

    Shapes: a dimension for each letter, of one size, or 1, wherever that letter stands.
    Raises: RuntimeError where a letter's sizes differ.

    >>> torch.einsum("ij,j->i", torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    equation, operands = _arguments(args)
    inputs, output = _parse(equation, operands)
    terms = [_diagonals(x, labels) for x, labels in zip(operands, inputs, strict=True)]
    _check_sizes(terms)
    x, labels = terms[0]
    x, labels = _sum_out(x, labels, set(output).union(*(t[1] for t in terms[1:])))
    for i, (y, other) in enumerate(terms[1:], start=1):
        later = set(output).union(*(t[1] for t in terms[i + 1 :]))
        y, other = _sum_out(y, other, later | set(labels))
        x, labels = _multiply(x, labels, y, other, later)
    x, labels = _sum_out(x, labels, set(output))
    if labels != output:
        x = x.permute([labels.index(label) for label in output])
    return x


def _arguments(args: tuple) -> tuple[str, list]:
    if len(args) < 2 or (isinstance(args[1], (tuple, list)) and not args[1] and len(args) == 2):
        raise errors.value_error(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list",
            'einsum("ij->i", x) or einsum(x, [0, 1], [0]) gives the sums of the rows of x.',
        )
    if not isinstance(args[0], str) and not hasattr(args[0], "_array"):
        raise errors.must_be("einsum", "equation", 1, "str", args[0])
    if isinstance(args[0], str):
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
            operands = tuple(operands[0])
        return args[0].replace(" ", ""), list(operands)

    def letters(numbers: Any) -> str:
        found = ""
        for n in numbers:
            if n is Ellipsis:
                found += "..."
            elif 0 <= n < 52:
                found += chr(65 + n) if n < 26 else chr(71 + n)
            else:
                text = "subscript in subscript list is not within the valid range [0, 52)"
                raise ValueError(f"einsum(): {text}")
        return found

    operands, lists = args[: len(args) // 2 * 2 : 2], args[1::2]
    equation = ",".join(map(letters, lists[: len(operands)]))
    if len(args) % 2:
        equation += "->" + letters(args[-1])
    return equation, list(operands)


def _parse(equation: str, operands: list) -> tuple[list[list[str]], list[str]]:
    """The labels of each operand and of the output; dimensions of `...` are labels "0", "1"."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        few = "fewer" if len(parts) > len(operands) else "more"
        text = f"einsum(): {few} operands were provided than specified in the equation"
        advice = f"The equation names {len(parts)} operands, {len(operands)} were given."
        raise errors.runtime_error(text, advice)
    widest = 0
    for i, part in enumerate(parts):
        _check_letters(equation, part, f"operand {i}", "an ellipsis")
    _check_letters(equation, right, "output", "an ellipsis (...)")
    for part, x in zip(parts, operands, strict=True):
        named = len(part.replace("...", ""))
        if "..." in part:
            widest = max(widest, x.ndim - named)
        if named > x.ndim or ("..." not in part and named != x.ndim):
            raise errors.runtime_error(
                f"einsum(): the number of subscripts in the equation ({named}) "
                + (
                    f"does not match the number of dimensions ({x.ndim}) for operand "
                    f"{parts.index(part)} and no ellipsis was given"
                    if "..." not in part
                    else f"is more than the number of dimensions ({x.ndim}) for operand "
                    f"{parts.index(part)}"
                ),
                "Write one letter for each dimension.",
            )
    dots = [str(i) for i in range(widest)]
    inputs = []
    for part, x in zip(parts, operands, strict=True):
        before, ellipsis, after = part.partition("...")
        hidden = x.ndim - len(before) - len(after)
        middle = dots[widest - hidden :] if ellipsis and hidden else []
        inputs.append([*before, *middle, *after])
    if arrow:
        before, ellipsis, after = right.partition("...")
        output = [*before, *(dots if ellipsis else []), *after]
        known = {label for labels in inputs for label in labels}
        for label in output:
            if label not in known or output.count(label) > 1:
                what = "does not appear in the equation for any input operand"
                if output.count(label) > 1:
                    what = "appears more than once in the output"
                raise RuntimeError(f"einsum(): output subscript {label} {what}")
    else:
        counts = Counter(label for labels in inputs for label in labels)
        output = dots + sorted(n for n, c in counts.items() if c == 1 and n.isalpha())
    return inputs, output


def _check_letters(equation: str, part: str, where: str, ellipsis: str) -> None:
    """Raise for what is no letter in one operand's part of an equation, or in the output's."""
    for letter in part.replace("...", "", 1):
        if letter == ".":
            text = f"that is not part of {ellipsis.replace('an', 'any', 1)}"
            if "..." in part:
                text = f"for which {ellipsis} was already found"
            raise RuntimeError(f"einsum(): found '.' for {where} {text}")
        if not letter.isalpha():
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {equation.rindex(letter)} in the "
                "equation string, subscripts must be in [a-zA-Z]"
            )


def _diagonals(x: Tensor, labels: list[str]) -> tuple[Any, list[str]]:
    """Take the diagonal of dimensions with the same label."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if x.shape[first] != x.shape[second]:
                raise errors.runtime_error(
                    f"einsum(): subscript {label} is repeated for operand 0 but the sizes "
                    f"don't match, {x.shape[second]} != {x.shape[first]}",
                    "A diagonal needs dimensions of equal size.",
                )
            x = x.diagonal(0, first, second)
            del labels[second], labels[first]
            labels.append(label)
    return x, labels


def _check_sizes(terms: list) -> None:
    sizes: dict[str, int] = {}
    for i, (x, labels) in enumerate(terms):
        for label, n in zip(labels, x.shape, strict=True):
            known = sizes.get(label, 1)
            if known != 1 and n != 1 and known != n:
                text = (
                    f"subscript {label} has size {n} for operand {i} which does not broadcast "
                    f"with previously seen size {known}"
                )
                if label.isdigit():
                    text = (
                        f"dimension {label} covered by ellipsis in operand {i}has size {n} which "
                        f"does not broadcast with previously seen ellipsis with size {known} for "
                        "the respective dimension"
                    )
                raise errors.runtime_error(
                    f"einsum(): {text}", "The same letter means the same size."
                )
            sizes[label] = max(known, n) if n != 0 else 0


def _sum_out(x: Tensor, labels: list[str], keep: set[str]) -> tuple[Any, list[str]]:
    """Sum over the dimensions that nobody needs any more."""
    gone = [i for i, label in enumerate(labels) if label not in keep]
    if not gone:
        return x, labels
    return x.sum(gone), [label for label in labels if label in keep]


def _multiply(x: Tensor, a: list[str], y: Tensor, b: list[str], later: set[str]) -> tuple:
    """The product of two terms; shared labels that nobody needs later are summed over."""
    shared = [label for label in a if label in b]
    summed = [n for n in shared if n not in later and _size(x, a, n) == _size(y, b, n)]
    batch = [n for n in shared if n not in summed]
    rest = [n for n in batch if n not in later]  # one of them has size 1: sum afterwards
    if not summed:
        result, labels = _pointwise(x, a, y, b)
        return _sum_out(result, labels, later) if rest else (result, labels)
    only_a = [n for n in a if n not in shared]
    only_b = [n for n in b if n not in shared]
    x = x.permute([a.index(n) for n in (*batch, *only_a, *summed)])
    y = y.permute([b.index(n) for n in (*batch, *summed, *only_b)])
    sizes_a, sizes_b = list(x.shape), list(y.shape)
    nb, ns = len(batch), len(summed)
    full = [max(p, q) for p, q in zip(sizes_a[:nb], sizes_b[:nb], strict=True)]
    free_a, free_b = sizes_a[nb : len(sizes_a) - ns], sizes_b[nb + ns :]
    inner = prod(sizes_b[nb : nb + ns])
    x = x.expand(*full, *sizes_a[nb:]).reshape(prod(full), prod(free_a), inner)
    y = y.expand(*full, *sizes_b[nb:]).reshape(prod(full), inner, prod(free_b))
    result = bmm(x, y).reshape((*full, *free_a, *free_b))
    labels = [*batch, *only_a, *only_b]
    return _sum_out(result, labels, later) if rest else (result, labels)


def _size(x: Tensor, labels: list[str], label: str) -> int:
    return x.shape[labels.index(label)]


def _pointwise(x: Tensor, a: list[str], y: Tensor, b: list[str]) -> tuple:
    labels = [*a, *(n for n in b if n not in a)]
    x = x.reshape(tuple(x.shape) + (1,) * (len(labels) - len(a)))
    y = y.permute([b.index(n) for n in labels if n in b])
    sizes = iter(y.shape)
    y = y.reshape([next(sizes) if n in b else 1 for n in labels])
    return x * y, labels


@overridable
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Out = None) -> Any:
    """The sum of products over the last `dims` dimensions of a and the first of b, or given pairs.

    Shapes: the result has the dimensions of a that are not summed over, then those of b.
    Raises: RuntimeError where sizes or numbers of dimensions do not fit.

    >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5), 2).shape
    torch.Size([2, 5])
    """
    if hasattr(dims, "_array"):
        dims = int(dims) if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise errors.runtime_error(
                f"tensordot expects dims < ndim_a or ndim_b, but got {dims=}",
                f"The tensors have {a.ndim} and {b.ndim} dimensions.",
            )
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        of_a, of_b = dims
        for name, position, given in (("dims_self", 3, of_a), ("dims_other", 4, of_b)):
            if isinstance(given, int):
                raise errors.must_be("tensordot", name, position, "tuple of ints", given)
        if len(of_a) != len(of_b):
            text = "both dimension lists should have same length"
            raise errors.runtime_error(text, f"They have {len(of_a)} and {len(of_b)}.")
        left, right = ([axis_of(d, x.ndim) for d in ds] for x, ds in ((a, of_a), (b, of_b)))
    if a.dtype is not b.dtype:
        advice = f"Convert one of them: .to({a.dtype})."
        raise errors.runtime_error("both inputs should have same dtype", advice)
    for i, j in zip(left, right, strict=True):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise errors.runtime_error(
                "contracted dimensions need to match, but first has size "
                f"{a.shape[i]} in dim {i} and second has size {b.shape[j]} in dim {j}",
                "Sizes of contracted dimensions must be equal.",
            )
    for i, j in zip(left, right, strict=True):  # a dimension of size 1 takes part in each term
        if a.shape[i] != b.shape[j]:
            if a.shape[i] == 1:
                b = b.sum(j, keepdim=True)
            else:
                a = a.sum(i, keepdim=True)
    rows = [i for i in range(a.ndim) if i not in left]
    columns = [j for j in range(b.ndim) if j not in right]
    shape = [a.shape[i] for i in rows] + [b.shape[j] for j in columns]
    inner = prod([a.shape[i] for i in left])
    x, y = a.permute((*rows, *left)), b.permute((*right, *columns))
    if prod(shape) == 1:
        x, y = (t if t.ndim == 1 else t.reshape(-1) for t in (x, y))
        return finish("tensordot", dot(x, y).view(shape), out)
    x = x.reshape(prod([a.shape[i] for i in rows]), inner)
    y = y.reshape(inner, prod([b.shape[j] for j in columns]))
    return finish("tensordot", x.mm(y).reshape(shape), out)


@require_tensors
def kron(input: Tensor, other: Tensor, *, out: Out = None) -> Any:
    """The Kronecker product: every element of the first times the whole second.

    Of matrices, the second (p, q): `y[i p + k, j q + l] = input[i, j] * other[k, l]`.

    Shapes: (a, b) and (c, d) to (a c, b d): sizes from the last on are multiplied.

    >>> torch.kron(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
    tensor([ 1., 10.,  2., 20.])
    """
    n = max(input.ndim, other.ndim)
    a = input.reshape((1,) * (n - input.ndim) + tuple(input.shape))
    b = other.reshape((1,) * (n - other.ndim) + tuple(other.shape))
    x = a.reshape([size for s in a.shape for size in (s, 1)])
    y = b.reshape([size for s in b.shape for size in (1, s)])
    shape = [s * t for s, t in zip(a.shape, b.shape, strict=True)]
    return finish("kron", unsafe_view(x * y, shape=tuple(shape)), out, x, y)


@vjp(x=lambda xp, g, x_like: xp.tril(xp.triu(xp.broadcast_to(g, x_like.shape))))
@linear(node="TraceBackward0")
def diagonal_sum(xp, x):
    """The sum of the diagonal of a matrix."""
    return xp.sum(xp.linalg.diagonal(x))


@autocast
def trace(input: Tensor) -> Any:
    """The sum of the diagonal of a matrix.

    Shape: (m, n) to ().
    Raises: RuntimeError for what is no matrix.

    >>> torch.trace(torch.eye(3))
    tensor(3.)
    """
    if input.dtype is bool_:
        raise no_kernel("trace", input.dtype)
    if input.ndim != 2:
        text = f"trace: expected a matrix, but got tensor with dim {input.ndim}"
        raise errors.runtime_error(text, "For batches: x.diagonal(dim1=-2, dim2=-1).sum(-1).")
    return diagonal_sum(input if input.dtype.category > 1 else input.to(int64))
