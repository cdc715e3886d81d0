"""Derivatives of convolutions by their input and their weight, as functions of their own.

All take `grad_output`, the derivative by what the convolution gives, and `stride`, `padding`,
`dilation`, `groups` as the convolution does: a number, or one for each dimension.
"""

from tapegrad.core.annotations import Any, Callable, Shape
from tapegrad.core.errors import runtime_error
from tapegrad.core.family import family
from tapegrad.nn import functional as F
from tapegrad.tensors.tensor import Tensor


@family
def _by_input(n: int) -> Callable:
    """The transposed convolution, with as much output padding as the strides left over."""
    transposed = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1]

    def by_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Shape = 1,
        padding: Shape = 0,
        dilation: Shape = 1,
        groups: int = 1,
    ) -> Tensor:
        geometry = _geometry(n, stride, padding, dilation)
        _check(n, input_size, weight.shape, grad_output, geometry)
        stride, padding, dilation = geometry
        sizes = input_size[2:], weight.shape[2:], grad_output.shape[2:]
        extra = [
            size - ((out - 1) * s - 2 * p + d * (kernel - 1) + 1)
            for size, kernel, out, s, p, d in zip(*sizes, *geometry, strict=True)
        ]
        return transposed(grad_output, weight, None, stride, padding, extra, groups, dilation)

    return by_input


@family
def _by_weight(n: int) -> Callable:
    """A convolution of the input with `grad_output`, batch and channels in each other's place."""
    convolution = (F.conv1d, F.conv2d, F.conv3d)[n - 1]

    def by_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Shape = 1,
        padding: Shape = 0,
        dilation: Shape = 1,
        groups: int = 1,
    ) -> Tensor:
        geometry = _geometry(n, stride, padding, dilation)
        _check(n, input.shape, weight_size, grad_output, geometry)
        stride, padding, dilation = geometry
        batch, channels = input.shape[:2]
        # (N, G C', ...) -> (C', G N, ...)
        x = input.reshape(batch, groups, channels // groups, *input.shape[2:])
        x = x.transpose(0, 2).flatten(1, 2)
        g = grad_output.transpose(0, 1)  # (G O', N, ...)
        result = convolution(x, g, None, dilation, padding, stride, groups)  # (C', O, ...)
        for axis, size in enumerate(weight_size[2:], start=2):
            result = result.narrow(axis, 0, size)  # the strides may leave some over
        return result.transpose(0, 1).reshape(weight_size)

    return by_weight


def _geometry(n, *options):
    """Each option as a tuple with a number for each dimension."""
    return [(option,) * n if isinstance(option, int) else tuple(option) for option in options]


def _check(n, input_size, weight_size, grad_output, geometry):
    """Raise unless the convolution would give something of the shape of `grad_output`."""
    if len(input_size) != n + 2:
        raise runtime_error(
            f"Expected {n + 2}-dimensional input for {n + 2}-dimensional weight "
            f"{list(weight_size)}, but got {len(input_size)}-dimensional input of size "
            f"{list(input_size)} instead",
            "Give it a batch and channels: (N, C, ...).",
        )
    expected = [input_size[0], weight_size[0]]
    for size, kernel, s, p, d in zip(input_size[2:], weight_size[2:], *geometry, strict=True):
        expected.append((size + 2 * p - d * (kernel - 1) - 1) // s + 1)
    for axis, (size, given) in enumerate(zip(expected, grad_output.shape, strict=False)):
        if size != given or grad_output.ndim != n + 2:
            raise runtime_error(
                f"Expected a tensor of dimension {n + 2} and tensor.size[{axis}] == {size} but "
                f"got: dimension {grad_output.ndim} and tensor.size[{axis}] = {given}",
                f"The convolution gives the shape {tuple(expected)}, and so must grad_output have.",
            )


@_by_input(1)
def conv1d_input() -> Any:
    """The derivative of `conv1d` by an input of the shape `input_size`.

    >>> weight, g = torch.tensor([[[1.0, 2.0]]]), torch.ones(1, 1, 3)
    >>> torch.nn.grad.conv1d_input((1, 1, 4), weight, g)
    tensor([[[1., 3., 3., 2.]]])
    """


@_by_weight(1)
def conv1d_weight() -> Any:
    """The derivative of `conv1d` by a weight of the shape `weight_size`.

    >>> x, g = torch.tensor([[[1.0, 2.0, 3.0, 4.0]]]), torch.ones(1, 1, 3)
    >>> torch.nn.grad.conv1d_weight(x, (1, 1, 2), g)
    tensor([[[6., 9.]]])
    """


@_by_input(2)
def conv2d_input() -> Any:
    """The derivative of `conv2d` by an input of the shape `input_size`.

    >>> weight, g = torch.ones(1, 1, 2, 2), torch.ones(1, 1, 1, 1)
    >>> torch.nn.grad.conv2d_input((1, 1, 3, 3), weight, g, stride=2)
    tensor([[[[1., 1., 0.],
              [1., 1., 0.],
              [0., 0., 0.]]]])
    """


@_by_weight(2)
def conv2d_weight() -> Any:
    """The derivative of `conv2d` by a weight of the shape `weight_size`.

    >>> x, g = torch.arange(9.0).reshape(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
    >>> torch.nn.grad.conv2d_weight(x, (1, 1, 2, 2), g)
    tensor([[[[ 8., 12.],
              [20., 24.]]]])
    """


@_by_input(3)
def conv3d_input() -> Any:
    """The derivative of `conv3d` by an input of the shape `input_size`.

    >>> weight, g = torch.ones(1, 1, 1, 1, 2), torch.ones(1, 1, 1, 1, 2)
    >>> torch.nn.grad.conv3d_input((1, 1, 1, 1, 3), weight, g).flatten()
    tensor([1., 2., 1.])
    """


@_by_weight(3)
def conv3d_weight() -> Any:
    """The derivative of `conv3d` by a weight of the shape `weight_size`.

    >>> x, g = torch.arange(3.0).reshape(1, 1, 1, 1, 3), torch.ones(1, 1, 1, 1, 2)
    >>> torch.nn.grad.conv3d_weight(x, (1, 1, 1, 1, 2), g).flatten()
    tensor([1., 3.])
    """
