"""A product of two vectors through a weight of three dimensions."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.shape import existing_axis
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import BOOL, check_real_graph, no_kernel
from tapegrad.operators.linalg.matmul_check import c_name

__torch__ = "bilinear"


@primitive(node="TrilinearBackward0")
def trilinear(xp, a, weight, b):
    """sum_ij a_ni w_kij b_nj for a (N, I), w (K, I, J), b (N, J): (N, K)."""
    k, i, j = weight.shape
    mixed = xp.matmul(a, xp.reshape(xp.permute_dims(weight, (1, 0, 2)), (i, k * j)))
    mixed = xp.reshape(mixed, (a.shape[0], k, j))
    return xp.sum(mixed * xp.expand_dims(b, axis=1), axis=2, dtype=a.dtype)


def _pairs(xp: Namespace, g: Array, b: Array) -> Any:
    """The products of all elements of g (N, K) and b (N, J): (N, K J)."""
    pairs = xp.expand_dims(g, axis=2) * xp.expand_dims(b, axis=1)
    return xp.reshape(pairs, (g.shape[0], g.shape[1] * b.shape[1]))


def _pull_a(xp, g, weight, b):
    k, i, j = weight.shape
    flat = xp.reshape(xp.permute_dims(weight, (0, 2, 1)), (k * j, i))
    return xp.matmul(_pairs(xp, g, b), flat)


def _pull_b(xp, g, weight, a):
    k, i, j = weight.shape
    return xp.matmul(_pairs(xp, g, a), xp.reshape(weight, (k * i, j)))


def _pull_weight(xp, g, a, weight_like, b):
    flat = xp.matmul(xp.matrix_transpose(_pairs(xp, g, a)), b)
    return xp.reshape(flat, weight_like.shape)


_forward = trilinear.on_arrays
trilinear.vjp(a=_pull_a, weight=_pull_weight, b=_pull_b)
trilinear.jvp(
    a=lambda xp, t, weight, b: _forward(xp, t, weight, b),
    weight=lambda xp, t, a, b: _forward(xp, a, t, b),
    b=lambda xp, t, a, weight: _forward(xp, a, weight, t),
)


@require_tensors
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """y_k = x1 . weight_k x2 + bias_k along the last dimensions.

    Shapes: input1 (..., I), input2 (..., J), weight (K, I, J), bias (K): (..., K).

    >>> torch.bilinear(torch.ones(5, 3), torch.ones(5, 4), torch.ones(2, 3, 4), None).shape
    torch.Size([5, 2])
    """
    _check(input1, input2, weight, bias)
    first, second = input1._array.shape, input2._array.shape
    n_out = weight._array.shape[0]
    check_real_graph("_trilinear", input1, input2, weight)
    if input1.dtype.category == BOOL:
        raise no_kernel("bmm", input1.dtype)
    flat = trilinear(input1.reshape(-1, first[-1]), weight, input2.reshape(-1, second[-1]))
    y = flat.view(*first[:-1], n_out)
    return y if bias is None else y + bias


def _check(input1: Any, input2: Any, weight: Tensor, bias: Tensor | None) -> None:
    given = {"input1": input1, "input2": input2, "weight": weight, "bias": bias}
    names = {name: c_name(x) for name, x in given.items() if x is not None}
    if len(set(names.values())) > 1:
        raise errors.runtime_error(
            "All tensors must have the same dtype, got "
            + ", ".join(f"{name}: {dtype}" for name, dtype in names.items()),
            f"Convert them: .to({input1.dtype}).",
        )
    a, b, w = input1._array.shape, input2._array.shape, weight._array.shape
    problem = ""
    if len(a) != len(b):
        problem = f"input dimensions do not match: got {len(a)} and {len(b)}"
    for i, (n, m) in enumerate(zip(a[:-1], b[:-1], strict=False)):
        if not problem and n != m:
            problem = f"input batch dimensions do not match at dim {i}: got {n} and {m}"
    advice = "The weight is (K, I, J), the inputs are (..., I) and (..., J), the bias is (K,)."
    of_bias = None if bias is None else bias._array.shape
    for name, shape, dim, i in (
        ("input1", a, -1, 1),
        ("input2", b, -1, 2),
        ("bias", of_bias, 0, 0),
    ):
        if not problem and shape is not None:
            wanted = w[existing_axis(i, len(w), advice)]
            n = shape[existing_axis(dim, len(shape), advice)]
            if n != wanted:
                problem = f"{name} size does not match weight size: got {n} but expected {wanted}"
    if problem:
        raise errors.runtime_error(
            f"bilinear(): {problem}",
            f"input1 is (..., I), input2 (..., J), weight (K, I, J), bias (K); they are {list(a)}, "
            f"{list(b)}, {list(w)}.",
        )
