"""Pooling with or without the places of what is found."""

from tapegrad.core.annotations import Any, Callable, Shape, Tensor
from tapegrad.core.argument_check import chosen_by, require_tensors
from tapegrad.core.family import family
from tapegrad.core.missing import public_names
from tapegrad.core.overridable import overridable
from tapegrad.operators.nn import adaptive_pool, fractional_max_pool


def _with_places(name: str) -> Callable:
    """Pooling for which PyTorch chooses a function: with the places, or without."""
    both = f"_{name}", f"{name}_with_indices"
    return chosen_by("return_indices", names=lambda wanted: both[wanted])


@overridable
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Shape, return_indices: bool = False
) -> tuple[Any, Any]:
    """The largest elements of `output_size` windows along the last dimension, and their indices.

    Shapes: (N, C, L) or (C, L), with L = `output_size` in both results.

    >>> x = torch.tensor([[1.0, 3.0, 2.0, 4.0]])
    >>> torch.nn.functional.adaptive_max_pool1d_with_indices(x, 2)
    (tensor([[3., 4.]]), tensor([[1, 3]]))
    """
    return adaptive_pool.adaptive_max_pool1d(input, output_size)


@overridable
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Shape, return_indices: bool = False
) -> tuple[Any, Any]:
    """The largest elements of windows that share out (..., H, W), and their places.

    Shapes: (..., H, W) to (..., h, w) twice, with (h, w) = `output_size`.

    >>> x = torch.arange(16.0).reshape(1, 4, 4)
    >>> torch.nn.functional.adaptive_max_pool2d_with_indices(x, (1, 2))[1]
    tensor([[[13, 15]]])
    """
    return adaptive_pool.adaptive_max_pool2d(input, output_size)


@overridable
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Shape, return_indices: bool = False
) -> tuple[Any, Any]:
    """The largest elements of windows that share out (..., D, H, W), and their places.

    Shapes: (..., D, H, W), the last three of both results `output_size`.

    >>> x = torch.arange(8.0).reshape(1, 2, 2, 2)
    >>> torch.nn.functional.adaptive_max_pool3d_with_indices(x, 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return adaptive_pool.adaptive_max_pool3d(input, output_size)


@overridable
def adaptive_max_pool1d(input: Tensor, output_size: Shape, return_indices: bool = False) -> Any:
    """The largest elements of `output_size` windows along the last dimension of (N, C, L).

    Windows are those of `adaptive_avg_pool1d`.

    Shape: (N, C, L) or (C, L), with L = `output_size` in the result.

    >>> torch.nn.functional.adaptive_max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 4.0]]), 2)
    tensor([[3., 4.]])
    """
    found = adaptive_max_pool1d_with_indices(input, output_size)
    return found if return_indices else found[0]


@_with_places("adaptive_max_pool2d")
@require_tensors
def adaptive_max_pool2d(input: Tensor, output_size: Shape, return_indices: bool = False) -> Any:
    """The largest elements of windows that share out (N, C, H, W) to `output_size` (h, w).

    Shape: (N, C, H, W) or (C, H, W) to (N, C, h, w) or (C, h, w).

    >>> torch.nn.functional.adaptive_max_pool2d(torch.arange(16.0).reshape(1, 4, 4), (1, 2))
    tensor([[[13., 15.]]])
    """
    found = adaptive_max_pool2d_with_indices(input, output_size)
    return found if return_indices else found[0]


@_with_places("adaptive_max_pool3d")
@require_tensors
def adaptive_max_pool3d(input: Tensor, output_size: Shape, return_indices: bool = False) -> Any:
    """The largest elements of windows that share out (N, C, D, H, W) to `output_size`.

    Shape: (N, C, D, H, W) or (C, D, H, W); the last three become `output_size`.

    >>> torch.nn.functional.adaptive_max_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), (1, 1, 2))
    tensor([[[[6., 7.]]]])
    """
    found = adaptive_max_pool3d_with_indices(input, output_size)
    return found if return_indices else found[0]


@family
def _fractional(n: int, with_indices: bool) -> Callable:
    """Pooling of `n` axes, `with_indices` whether or not they are asked for."""

    def fractional(
        input: Tensor,
        kernel_size: Shape,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        sizes = kernel_size, output_size, output_ratio
        found = fractional_max_pool.pooled(n, input, *sizes, _random_samples)
        return found if with_indices or return_indices else found[0]

    return fractional


@overridable
@_fractional(2, True)
def fractional_max_pool2d_with_indices() -> Any:
    """The largest elements of windows placed at random, and their places.

    Shapes: (N, C, H, W) or (C, H, W); the last two of both results are `output_size`.

    >>> x = torch.arange(16.0).reshape(1, 4, 4)
    >>> samples = torch.zeros(1, 1, 2)
    >>> torch.nn.functional.fractional_max_pool2d_with_indices(
    ...     x, 2, output_size=2, _random_samples=samples
    ... )[1]
    tensor([[[ 5,  7],
             [13, 15]]])
    """


@overridable
@_fractional(3, True)
def fractional_max_pool3d_with_indices() -> Any:
    """As `fractional_max_pool2d_with_indices`, for (N, C, D, H, W) or (C, D, H, W).

    Shapes: those of the input; the last three of both results are `output_size`.

    >>> F = torch.nn.functional
    >>> x = torch.arange(64.0).reshape(1, 1, 4, 4, 4)
    >>> values, indices = F.fractional_max_pool3d_with_indices(x, 2, output_size=2)
    >>> values.shape, indices.shape
    (torch.Size([1, 1, 2, 2, 2]), torch.Size([1, 1, 2, 2, 2]))
    """


@_with_places("fractional_max_pool2d")
@_fractional(2, False)
def fractional_max_pool2d() -> Any:
    """The largest elements of windows of `kernel_size` placed at random in (N, C, H, W).

    There are `output_size` windows, or `output_ratio` times the size of the input. The distances of
    their starts are rounded up or down as a uniform number u says, one for each image, channel and
    dimension: window i begins at `floor((i + u) a) - floor(u a)` with
    `a = (size - kernel_size) / (output_size - 1)`, the last one at the end.

    Shape: (N, C, H, W) or (C, H, W); the last two become `output_size`.

    Source: Graham, "Fractional Max-Pooling", 2014, section 2.

    >>> x = torch.arange(25.0).reshape(1, 5, 5)
    >>> torch.nn.functional.fractional_max_pool2d(x, 2, output_size=3).shape
    torch.Size([1, 3, 3])
    """


@_with_places("fractional_max_pool3d")
@_fractional(3, False)
def fractional_max_pool3d() -> Any:
    """The largest elements of windows placed at random in (N, C, D, H, W).

    As `fractional_max_pool2d`, in three dimensions.

    Shape: (N, C, D, H, W) or (C, D, H, W); the last three become `output_size`.

    >>> x = torch.arange(125.0).reshape(1, 5, 5, 5)
    >>> torch.nn.functional.fractional_max_pool3d(x, 2, output_ratio=0.5).shape
    torch.Size([1, 2, 2, 2])
    """


__all__ = public_names(globals())
