"""Convolutions in one, two and three dimensions, and their transposes: the public functions."""

from __future__ import annotations

from typing import Any

from tapegrad import errors
from tapegrad.ops.constant_pad import constant_pad_nd
from tapegrad.ops.conv_check import check, check_same, common, ints, wrong_rank
from tapegrad.ops.convolve import convolution as _convolution

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
]


_checked: dict[tuple, tuple] = {}  # shapes, dtypes and steps that fit together
_MOST = 1024


def convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """The convolution of a batch of images along as many axes as the kernels have, or transposed.

    >>> x, w = torch.ones(1, 2, 5, 5), torch.ones(4, 2, 3, 3)
    >>> torch.convolution(x, w, None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1).shape
    torch.Size([1, 4, 3, 3])
    """
    common("convolution", input, weight, bias)
    steps = {"stride": stride, "padding": padding, "dilation": dilation}
    stride, padding, dilation = [ints("convolution", name, x) for name, x in steps.items()]
    output_padding = ints("convolution", "output_padding", output_padding)
    return _run(
        input, weight, bias, stride, padding, dilation, bool(transposed), output_padding, groups
    )


def _run(
    input: Any,
    weight: Any,
    bias: Any,
    stride: tuple,
    padding: tuple,
    dilation: tuple,
    transposed: bool,
    output_padding: tuple,
    groups: int,
) -> Any:
    """Check everything, bring it to one form, and compute."""
    arrays = [None if x is None else x._array for x in (input, weight, bias)]
    key = (
        *[None if x is None else (x.shape, x.dtype) for x in arrays],
        *(stride, padding, dilation, transposed, output_padding, groups),
    )
    steps = _checked.get(key)
    if steps is None:
        steps = check(
            input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )
        if len(_checked) == _MOST:
            _checked.clear()
        _checked[key] = steps
    stride, padding, dilation, output_padding = steps
    if not transposed and not input.shape[1]:
        weight = weight[:0]  # PyTorch's result has no channels then
        bias = None
    return _convolution(
        input,
        weight,
        bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        transposed=transposed,
        output_padding=output_padding,
        groups=groups,
    )


def _conv(
    n: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> Any:
    """A convolution along `n` axes."""
    name = f"conv{n}d"
    given = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    common(name, input, weight, bias, given)
    stride = ints(name, "stride", stride, n, (input, weight, bias, given))
    dilation = ints(name, "dilation", dilation, n, (input, weight, bias, given))
    text = type(padding) is str
    if not text:
        padding = ints(name, "padding", padding, n, (input, weight, bias, given))
    batched = input._array.ndim == n + 2
    if not batched:
        if input._array.ndim != n + 1:
            raise wrong_rank(name, n, input)
        input = input.unsqueeze(0)
    if text:
        padding = (0,) * n if padding == "valid" else padding
    if type(padding) is str:
        input, padding = _same(n, input, weight, stride, padding, dilation, groups)
    y = _run(input, weight, bias, stride, padding, dilation, False, (0,) * n, groups)
    return y if batched else y.squeeze(0)


def _same(
    n: int,
    input: Any,
    weight: Any,
    stride: tuple,
    padding: str,
    dilation: tuple,
    groups: int,
) -> tuple[Any, tuple]:
    """The input and the padding that make the result as large as the input.

    An odd number of pixels has one more at the end, which the input itself gets.
    """
    stride, dilation = check_same(n, input, weight, stride, padding, dilation, groups)
    total = [d * (k - 1) for d, k in zip(dilation, weight._array.shape[2:], strict=True)]
    if any(t % 2 for t in total):
        more = [pixels for t in reversed(total) for pixels in (0, t % 2)]
        input = constant_pad_nd(input, more, 0)
    return input, tuple([t // 2 for t in total])


def _conv_transpose(
    n: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> Any:
    """A transposed convolution along `n` axes."""
    name = f"conv_transpose{n}d"
    common(name, input, weight, bias)
    stride = ints(name, "stride", stride, n)
    padding = ints(name, "padding", padding, n)
    output_padding = ints(name, "output_padding", output_padding, n)
    dilation = ints(name, "dilation", dilation, n)
    if type(groups) is not int:
        raise errors.must_be(name, "groups", 0, "int", groups)
    batched = input._array.ndim == n + 2
    if not batched:
        if input._array.ndim != n + 1:
            raise wrong_rank(name, n, input)
        input = input.unsqueeze(0)
    y = _run(input, weight, bias, stride, padding, dilation, True, output_padding, groups)
    return y if batched else y.squeeze(0)


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of signals (N, C, L), or (C, L), with kernels (O, C / groups, K).

    y[n, o, i] = bias[o] + sum over c, k of
                 weight[o, c, k] * input[n, c, stride * i + dilation * k - padding]

    Outside its bounds the input is zero. The padding is a number of elements on both sides, "valid"
    for none, or "same" for as many as make the result as long as the input.

    >>> conv1d = torch.nn.functional.conv1d
    >>> conv1d(torch.tensor([[1.0, 2.0, 4.0, 8.0]]), torch.tensor([[[-1.0, 1.0]]]))
    tensor([[1., 2., 4.]])
    """
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of images (N, C, H, W), or (C, H, W), with kernels (O, C / groups, KH, KW).

    y[n, o, i] = bias[o] + sum over c, k of
                 weight[o, c, k] * input[n, c, stride * i + dilation * k - padding]

    with pairs i and k. Arguments are numbers, or pairs (along H, along W); `padding` as in conv1d.

    >>> conv2d = torch.nn.functional.conv2d
    >>> conv2d(torch.ones(8, 3, 32, 32), torch.ones(16, 3, 5, 5), stride=2).shape
    torch.Size([8, 16, 14, 14])
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The convolution of volumes (N, C, D, H, W) with kernels (O, C / groups, KD, KH, KW).

    As conv2d, with one more axis; the input may be a single volume (C, D, H, W).

    >>> conv3d = torch.nn.functional.conv3d
    >>> conv3d(torch.ones(2, 3, 8, 8, 8), torch.ones(4, 3, 3, 3, 3), padding="same").shape
    torch.Size([2, 4, 8, 8, 8])
    """
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transposed convolution of signals (N, C, L) with kernels (C, O / groups, K).

    Each number of the input puts the kernels, times itself, at its place of the result: numbers are
    `stride` apart, `padding` elements are cut off both ends, `output_padding` is added at the end.

    >>> conv_transpose1d = torch.nn.functional.conv_transpose1d
    >>> conv_transpose1d(torch.tensor([[1.0, 2.0]]), torch.tensor([[[1.0, 1.0, 1.0]]]), stride=2)
    tensor([[1., 1., 3., 2., 2.]])
    """
    return _conv_transpose(
        1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transposed convolution of images (N, C, H, W) with kernels (C, O / groups, KH, KW).

    As conv_transpose1d, along two axes: arguments are numbers or pairs.

    >>> x, w = torch.ones(8, 16, 7, 7), torch.ones(16, 3, 4, 4)
    >>> torch.nn.functional.conv_transpose2d(x, w, stride=2, padding=1).shape
    torch.Size([8, 3, 14, 14])
    """
    return _conv_transpose(
        2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transposed convolution of volumes (N, C, D, H, W) by kernels (C, O / groups, KD, KH, KW).

    As conv_transpose1d, along three axes: arguments are numbers or triples.

    >>> conv_transpose3d = torch.nn.functional.conv_transpose3d
    >>> conv_transpose3d(torch.ones(1, 2, 4, 4, 4), torch.ones(2, 3, 2, 2, 2), stride=2).shape
    torch.Size([1, 3, 8, 8, 8])
    """
    return _conv_transpose(
        3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """The convolution of sequences (T, N, C) with kernels (K, C, O): time first, channels last.

    y[t, n, o] = bias[o] + sum over k, c of weight[k, c, o] * input[t + k - pad, n, c]

    >>> torch.conv_tbc(torch.ones(5, 2, 3), torch.ones(3, 3, 4), torch.zeros(4)).shape
    torch.Size([3, 2, 4])
    """
    for ok, text in (
        (input.ndim == 3, "Input must have 3 dims: time, batch, in_channel"),
        (
            weight.ndim == 3,
            "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.",
        ),
        (bias.ndim == 1, "Bias must be 1-D"),
    ):
        if not ok:
            raise RuntimeError(text)
    if input.shape[2] != weight.shape[1]:
        raise errors.advised(
            RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor"),
            f"Shapes are {list(input.shape)} and {list(weight.shape)}.",
        )
    if bias.shape[0] != weight.shape[2]:
        raise errors.advised(
            RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels)."),
            f"It must be {weight.shape[2]}.",
        )
    y = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return y.permute(2, 0, 1).contiguous()
