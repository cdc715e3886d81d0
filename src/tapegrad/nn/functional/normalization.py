"""Normalisation with PyTorch's arguments: of batches, layers, groups, instances, neighbours."""

from math import prod

from tapegrad.core.annotations import Shape
from tapegrad.core.errors import runtime_error, value_error
from tapegrad.core.missing import public_names
from tapegrad.core.overridable import overridable
from tapegrad.operators.nn import batch_group_norm
from tapegrad.operators.nn import layer_norm as _layer_norm
from tapegrad.operators.nn.avg_pool import require_averages
from tapegrad.operators.pointwise.divide_reciprocal import div
from tapegrad.operators.shape.cat_stack import cat
from tapegrad.tensors.tensor import Tensor


@overridable
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` for each channel of (N, C, ...).

    In training the moments are those of the batch, and the running statistics move towards them:
    `running = (1 - momentum) * running + momentum * batch`. Else they are the running statistics.

    Shapes: input (N, C, ...); all others (C). The variance divides by the number of elements, that
    of the running statistics by one less.

    Source: Ioffe and Szegedy, Batch normalization, 2015, algorithm 1.

    >>> x = torch.tensor([[1.0], [3.0]])
    >>> torch.nn.functional.batch_norm(x, None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    if training:
        size = input.size()
        if size[0] * prod(size[2:]) == 1:
            raise value_error(
                f"Expected more than 1 value per channel when training, got input size {size}",
                "One value has no variance: use a larger batch, or eval().",
            )
    return batch_group_norm.batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps, True
    )


@overridable
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` for each channel of each sample.

    Shapes: input (N, C, ...); all others (C).

    Source: Ulyanov et al., Instance normalization, 2016, eq. 1.

    >>> torch.nn.functional.instance_norm(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    if use_input_stats and prod(input.size()[2:]) == 1:
        raise value_error(
            f"Expected more than 1 spatial element when training, got input size {input.size()}",
            "One element has no variance: the input has shape (N, C, L) with L > 1.",
        )
    return batch_group_norm.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True
    )


@overridable
def layer_norm(
    input: Tensor,
    normalized_shape: Shape,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` over the last dimensions.

    Mean and variance are those of the dimensions that `normalized_shape`, the end of the input's
    shape, names; `weight` and `bias` have that shape.

    Shape: any, and that of the result.
    Raises: RuntimeError where `normalized_shape` is not the end of the input's.

    Source: Ba et al., Layer normalization, 2016, eq. 3.

    >>> torch.nn.functional.layer_norm(torch.tensor([[1.0, 3.0]]), (2,))
    tensor([[-1.0000,  1.0000]])
    """
    return _layer_norm.layer_norm(input, normalized_shape, weight, bias, eps)


@overridable
def rms_norm(
    input: Tensor, normalized_shape: Shape, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """`x / sqrt(mean(x^2) + eps) * weight` over the last dimensions.

    The mean is over the dimensions that `normalized_shape`, the end of the input's shape, names;
    `weight` has that shape. `eps` is the resolution of the dtype if it is not given.

    Shape: any, and that of the result.
    Raises: RuntimeError where `normalized_shape` is not the end of the input's.

    Source: Zhang and Sennrich, Root mean square layer normalization, 2019, eq. 4.

    >>> torch.nn.functional.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    return _layer_norm.rms_norm(input, normalized_shape, weight, eps)


@overridable
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` for groups of channels of each sample.

    Shapes: input (N, C, ...), weight and bias (C). Each of the `num_groups` groups of consecutive
    channels has a mean and a variance of its own.

    Source: Wu and He, Group normalization, 2018, eq. 1 and 7.

    >>> torch.nn.functional.group_norm(torch.tensor([[1.0, 3.0, 5.0, 5.0]]), 2)
    tensor([[-1.0000,  1.0000,  0.0000,  0.0000]])
    """
    size = list(input.size())
    if len(size) < 2:
        raise runtime_error(
            f"Expected at least 2 dimensions for input tensor but received {len(size)}",
            "The input has shape (N, C, ...): a batch of samples with C channels.",
        )
    together = [size[0] * size[1] // num_groups, num_groups, *size[2:]]
    if together[0] * prod(size[2:]) == 1:
        raise value_error(
            f"Expected more than 1 value per channel when training, got input size {together}",
            "One value has no variance: use fewer groups.",
        )
    return batch_group_norm.group_norm(input, num_groups, weight, bias, eps)


@overridable
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """`x / (k + alpha * mean(x^2))^beta`, the mean over `size` neighbouring channels.

    The input is (N, C, ...). Channels beyond the first and the last count as zero. The mean is over
    `size` channels, where the paper takes the sum.

    Shape: any, and that of the result.
    Raises: ValueError for fewer than three dimensions; RuntimeError for a `size` of 0.

    Source: Krizhevsky et al., ImageNet classification with deep networks, 2012, section 3.3.

    >>> torch.nn.functional.local_response_norm(torch.ones(1, 1, 2), 2, alpha=2.0, beta=1.0)
    tensor([[[0.5000, 0.5000]]])
    """
    dim = input.dim()
    if dim < 3:
        raise value_error(
            "Expected 3D or higher dimensionality                          "
            f"input (got {dim} dimensions)",
            "The input has shape (N, C, L, ...).",
        )
    if input.numel() == 0:
        return input
    if size <= 0:
        sizes = f"kH: {size} kW: 1" if dim == 3 else f"kT: {size} kH: 1 kW: 1"
        raise runtime_error(
            f"kernel size should be greater than zero, but got {sizes}",
            "size is the number of channels that are taken together.",
        )
    n, c, *rest = input.shape
    before, after = size // 2, (size - 1) // 2
    square = input.mul(input)
    require_averages(2 if dim == 3 else 3, square)
    edges = [square.new_zeros((n, m, *rest)) for m in (before, after)]
    padded = cat((edges[0], square, edges[1]), 1)
    total = padded.narrow(1, 0, c)
    for i in range(1, size):
        total = total + padded.narrow(1, i, c)
    return input / (total / size).mul(alpha).add(k).pow(beta)


@overridable
def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """`x / max(norm(x), eps)` along `dim`, the norm of order `p`.

    Shape: any, and that of the result.

    >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / length if out is None else div(input, length, out=out)


__all__ = public_names(globals())
