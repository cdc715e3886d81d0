"""Lp pooling: the norm of each window.

Source: Gulcehre, Cho, Pascanu and Bengio, "Learned-Norm Pooling for Deep Feedforward and Recurrent
Neural Networks", 2014.
"""

from math import isinf, prod

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Shape, Tensor
from tapegrad.core.family import family
from tapegrad.core.overridable import overridable
from tapegrad.operators.nn.avg_pool import avg_pool1d, avg_pool2d, avg_pool3d
from tapegrad.operators.nn.max_pool import max_pool1d, max_pool2d, max_pool3d
from tapegrad.operators.nn.pool_size import array_of, is_default
from tapegrad.operators.pointwise.relu_threshold_shrink import relu


def _elements(kernel_size: Shape, n: int) -> int:
    if isinstance(kernel_size, int):
        return kernel_size**n
    return prod(kernel_size) ** (1 if len(kernel_size) == n else n)


@family
def _lp_pooling(n: int, average: Callable, largest: Callable) -> Callable:
    def lp_pool(
        input: Tensor,
        norm_type: float,
        kernel_size: Shape,
        stride: Any = None,
        ceil_mode: bool = False,
    ) -> Any:
        array_of(f"avg_pool{n}d", input)
        step = None if is_default(stride) else stride
        if isinf(norm_type):
            if norm_type < 0:
                return -largest(-input.abs(), kernel_size, step, 0, 1, ceil_mode)
            return largest(input.abs(), kernel_size, step, 0, 1, ceil_mode)
        out = average(input.pow(norm_type), kernel_size, step, 0, ceil_mode)
        if n == 1 and isinstance(kernel_size, (tuple, list)):  # PyTorch multiplies by it
            raise errors.must_be("mul", "other", 1, "Tensor", kernel_size)
        # a sum of odd powers may be negative, and then gives 0
        total = (out.sign() * relu(out.abs())) * _elements(kernel_size, n)
        return total.pow(1.0 / norm_type)

    return lp_pool


@overridable
@_lp_pooling(1, avg_pool1d, max_pool1d)
def lp_pool1d() -> Any:
    """`(sum of x^p over each window)^(1/p)` along the last dimension, p = `norm_type`.

    Shape: (N, C, L) or (C, L), with (L - kernel_size) // stride + 1 windows for L.

    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3.0, 4.0, 6.0, 8.0]]), 2, 2)
    tensor([[ 5., 10.]])
    """


@overridable
@_lp_pooling(2, avg_pool2d, max_pool2d)
def lp_pool2d() -> Any:
    """`(sum of x^p over each window)^(1/p)` of (N, C, H, W) or (C, H, W), p = `norm_type`.

    Shape: of each size L of an image (L - kernel_size) // stride + 1 windows are left.

    >>> torch.nn.functional.lp_pool2d(torch.tensor([[[3.0, 4.0], [0.0, 0.0]]]), 2, 2)
    tensor([[[5.]]])
    """


@overridable
@_lp_pooling(3, avg_pool3d, max_pool3d)
def lp_pool3d() -> Any:
    """`(sum of x^p over each window)^(1/p)` of (N, C, D, H, W) or (C, D, H, W).

    Shape: of each size L of a volume (L - kernel_size) // stride + 1 windows are left.

    >>> torch.nn.functional.lp_pool3d(torch.ones(1, 2, 2, 2), 3, 2)
    tensor([[[[2.]]]])
    """
