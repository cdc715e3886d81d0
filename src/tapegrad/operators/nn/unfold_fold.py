"""Sliding blocks of images: reading them as columns (unfold), adding them up again (fold)."""

from math import prod

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Shape, Tensor
from tapegrad.core.overridable import overridable
from tapegrad.core.shape import ints_of
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.nn.conv_rules import output_size

_KERNELS = ("read_blocks", "sum_blocks")


@vjp(
    x=lambda xp, g, x_like, kernel_size, dilation, padding, stride, size: xp.sum_blocks(
        g, x_like.shape[2:], kernel_size, stride, padding, dilation, size
    )
)
@linear(node="Im2ColBackward0", numbers=False, kernels=_KERNELS)
def image_to_columns(xp, x, *, kernel_size, dilation, padding, stride, size):
    """The blocks of images (N, C, H, W) as columns (N, C * offsets, places), `size` places."""
    return xp.read_blocks(x, kernel_size, stride, padding, dilation, size)


@vjp(
    x=lambda xp, g, kernel_size, dilation, padding, stride, size: xp.read_blocks(
        g, kernel_size, stride, padding, dilation, size
    )
)
@linear(node="Col2ImBackward0", numbers=False, kernels=_KERNELS)
def columns_to_image(xp, x, *, output_size, kernel_size, dilation, padding, stride, size):
    """Columns (N, C * offsets, places) added up in images (N, C, *output_size)."""
    return xp.sum_blocks(x, output_size, kernel_size, stride, padding, dilation, size)


@tensor_kernel
def read_blocks(
    x: Tensor, kernel: Any, stride: Shape, padding: Shape, dilation: Shape, size: Shape
) -> Any:
    """`image_to_columns` in the Tensor namespace."""
    return image_to_columns(
        x, kernel_size=kernel, dilation=dilation, padding=padding, stride=stride, size=size
    )


@tensor_kernel
def sum_blocks(
    columns: Any, image: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, size: Any
) -> Any:
    """`columns_to_image` in the Tensor namespace."""
    steps = {"kernel_size": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    return columns_to_image(columns, output_size=tuple(image), **steps, size=size)


@overridable
def unfold(
    input: Tensor, kernel_size: Shape, dilation: Shape = 1, padding: Shape = 0, stride: Shape = 1
) -> Any:
    """The blocks that a kernel covers of images (N, C, H, W), as columns (N, C * KH * KW, places).

    Column i holds, channel by channel, the pixels under the kernel at its place i, row by row.

    Along H there are `(H + 2 padding - dilation (KH - 1) - 1) // stride + 1` places; so along W.

    Shape: (N, C, H, W) to (N, C KH KW, places), or both without N.
    Raises: RuntimeError where the kernel does not fit.

    >>> torch.nn.functional.unfold(torch.arange(9.0).reshape(1, 1, 3, 3), 2)
    tensor([[[0., 1., 3., 4.],
             [1., 2., 4., 5.],
             [3., 4., 6., 7.],
             [4., 5., 7., 8.]]])
    """
    steps = _steps("im2col", input, kernel_size, dilation, padding, stride)
    kernel_size, dilation, padding, stride = steps
    shape = input._array.shape
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        if len(shape) < 3:
            raise errors.index_error(
                f"Dimension out of range (expected to be in range of [{-len(shape)}, "
                f"{len(shape) - 1}], but got {len(shape)})",
                "Images are (N, C, H, W) or (C, H, W).",
            )
        raise errors.runtime_error(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(shape)}",
            "Images are (N, C, H, W) or (C, H, W).",
        )
    size = output_size(shape[-2:], kernel_size, stride, padding, dilation, False, (0, 0))
    if min(size) < 1:
        raise errors.runtime_error(
            f"Given input with spatial size {shape[-2:]}, kernel_size={kernel_size}, "
            f"dilation={dilation}, padding={padding}, calculated shape of the array of sliding "
            f"blocks as {size}, but its components must be at least one.",
            "Take a smaller kernel, less dilation or more padding.",
        )
    _check_dtype("im2col_out_cpu", input)
    batch = input if len(shape) == 4 else input.unsqueeze(0)
    columns = read_blocks(batch, kernel_size, stride, padding, dilation, size)
    return columns if len(shape) == 4 else columns.squeeze(0)


@overridable
def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    """Blocks (N, C * KH * KW, places) added up where `unfold` reads them in images (N, C, H, W).

    `output_size` is (H, W). Pixels that several blocks have get the sum.

    Shape: (N, C KH KW, places) to (N, C, H, W), or both without N.
    Raises: RuntimeError where the blocks do not fit.

    >>> columns = torch.ones(1, 4, 4)
    >>> torch.nn.functional.fold(columns, (3, 3), 2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    image = _pair("col2im", "output_size", output_size)
    steps = _steps("col2im", input, kernel_size, dilation, padding, stride)
    kernel_size, dilation, padding, stride = steps
    size = _check_columns(input, image, kernel_size, dilation, padding, stride)
    _check_dtype("col2im_out_cpu", input)
    batched = input._array.ndim == 3
    batch = input if batched else input.unsqueeze(0)
    images = sum_blocks(batch, image, kernel_size, stride, padding, dilation, size)
    return images if batched else images.squeeze(0)


def _pair(function: str, name: str, value: Any) -> tuple[int, int]:
    pair = (value, value) if not isinstance(value, (tuple, list)) else value
    pair = ints_of(function, name, (pair,), 2)
    if len(pair) != 2:
        text = f"It is expected {name} equals to 2, but got size {len(pair)}"
        advice = "Give one number, or one for the height and one for the width."
        raise errors.runtime_error(text, advice)
    return pair


def _steps(
    function: str, input: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple:
    """The numbers of both functions as pairs, checked."""
    errors.need_tensor(function, "input", 1, input)
    names = ("kernel_size", "dilation", "padding", "stride")
    given = zip(names, (kernel_size, dilation, padding, stride), strict=True)
    pairs = [_pair(function, *each) for each in given]
    for (height, width), name, short, least in (
        (pairs[0], "kernel size", "kernel", 1),
        (pairs[1], "dilation", "dilation", 1),
        (pairs[2], "padding", "pad", 0),
        (pairs[3], "stride", "stride", 1),
    ):
        if min(height, width) < least:
            wanted = "greater than zero" if least else "non-negative"
            raise errors.runtime_error(
                f"{name} should be {wanted}, but got {short}_height: {height} {short}_width: "
                f"{width}",
                f"The least is {least}.",
            )
    return tuple(pairs)


def _check_dtype(kernel: str, input: Tensor) -> None:
    if input.dtype.category == 1:
        raise no_kernel(kernel, input.dtype)


def _check_columns(
    input: Tensor, image: tuple, kernel_size: tuple, dilation: tuple, padding: tuple, stride: tuple
) -> tuple:
    """The places of the kernel along each axis; raises if the columns are not as many."""
    shape = input._array.shape
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise errors.runtime_error(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(shape)}",
            "Columns are (N, C * KH * KW, places) or (C * KH * KW, places).",
        )
    if shape[-2] % prod(kernel_size):
        raise errors.runtime_error(
            "Expected size of input's dimension 1 to be divisible by the product of "
            f"kernel_size, but got input.size(1)={shape[-2]} and kernel_size={kernel_size}.",
            "Each channel has a row for each element of the kernel.",
        )
    size = output_size(image, kernel_size, stride, padding, dilation, False, (0, 0))
    if prod(size) != shape[-1] or min(size) < 1:
        raise errors.runtime_error(
            f"Given output_size={image}, kernel_size={kernel_size}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, expected size of input's dimension 2 to "
            f"match the calculated number of sliding blocks {size[0]} * {size[1]} = "
            f"{prod(size)}, but got input.size(2)={shape[-1]}.",
            "There is one column for each place of the kernel.",
        )
    return size
