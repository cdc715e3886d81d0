"""Transposed convolutions in one, two and three dimensions; convolutions with time first."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.family import family
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.nn.conv import conv1d, run
from tapegrad.operators.nn.conv_check import STEPS, common, ints, is_batch

__torch__ = "conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d"


@family
def _transposed(n: int) -> Callable:
    """The transposed convolution along `n` axes."""
    name = f"conv_transpose{n}d"

    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        common(name, input, weight, bias)
        given = zip(STEPS, (stride, padding, dilation, output_padding), strict=True)
        steps = tuple([ints(name, *each, n) for each in given])
        if type(groups) is not int:
            raise errors.must_be(name, "groups", 0, "int", groups)
        batched = is_batch(name, n, input)
        if not batched:
            input = input.unsqueeze(0)
        y = run(input, weight, bias, steps, True, groups)
        return y if batched else y.squeeze(0)

    return conv_transpose


@autocast
@_transposed(1)
def conv_transpose1d() -> Any:
    """The transposed convolution of signals (N, C, L) with kernels (C, O / groups, K).

    Each number of the input puts the kernels, times itself, at its place of the result: numbers are
    `stride` apart, `padding` elements are cut off both ends, `output_padding` is added at the end.

    They are `(L - 1) stride - 2 padding + dilation (K - 1) + output_padding + 1` in all.

    Shapes: input (N, C, L) or (C, L), bias (O,); result (N, O, L') or (O, L').

    >>> conv_transpose1d = torch.nn.functional.conv_transpose1d
    >>> conv_transpose1d(torch.tensor([[1.0, 2.0]]), torch.tensor([[[1.0, 1.0, 1.0]]]), stride=2)
    tensor([[1., 1., 3., 2., 2.]])
    """


@autocast
@_transposed(2)
def conv_transpose2d() -> Any:
    """The transposed convolution of images (N, C, H, W) with kernels (C, O / groups, KH, KW).

    As conv_transpose1d, along two axes: arguments are numbers or pairs.

    Shapes: input (N, C, H, W) or (C, H, W), bias (O,); result (N, O, H', W') or without N.

    >>> x, w = torch.ones(8, 16, 7, 7), torch.ones(16, 3, 4, 4)
    >>> torch.nn.functional.conv_transpose2d(x, w, stride=2, padding=1).shape
    torch.Size([8, 3, 14, 14])
    """


@autocast
@_transposed(3)
def conv_transpose3d() -> Any:
    """The transposed convolution of volumes (N, C, D, H, W) by kernels (C, O / groups, KD, KH, KW).

    As conv_transpose1d, along three axes: arguments are numbers or triples.

    Shapes: input (N, C, D, H, W) or (C, D, H, W), bias (O,); result (N, O, D', H', W').

    >>> conv_transpose3d = torch.nn.functional.conv_transpose3d
    >>> conv_transpose3d(torch.ones(1, 2, 4, 4, 4), torch.ones(2, 3, 2, 2, 2), stride=2).shape
    torch.Size([1, 3, 8, 8, 8])
    """


@autocast
def conv_tbc(input: Tensor, weight: Tensor, bias: Any, pad: int = 0) -> Any:
    """The convolution of sequences (T, N, C) with kernels (K, C, O): time first, channels last.

    y[t, n, o] = bias[o] + sum over k, c of weight[k, c, o] * input[t + k - pad, n, c]

    Shapes: input (T, N, C), bias (O,); result (T + 2 pad - K + 1, N, O).
    Raises: RuntimeError where the channels do not fit.

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
        raise errors.runtime_error(
            "Input dim 2 (input channels) is not == dim 1 in the weight tensor",
            f"Shapes are {list(input.shape)} and {list(weight.shape)}.",
        )
    if bias.shape[0] != weight.shape[2]:
        message = "Bias size must equal dim 2 in the weight tensor (output channels)."
        raise errors.runtime_error(message, f"It must be {weight.shape[2]}.")
    y = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return y.permute(2, 0, 1).contiguous()
