"""Convolutions in one, two and three dimensions."""

from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.family import family
from tapegrad.core.promote_types import promote_types, result_type
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.nn.conv_check import STEPS, check, check_same, common, ints, is_batch
from tapegrad.operators.nn.conv_rules import convolution as _convolution
from tapegrad.operators.nn.pad import constant_pad_nd

__torch__ = "conv1d conv2d conv3d convolution"


_checked: dict[tuple, tuple[dict, bool]] = {}  # shapes, dtypes and steps that fit together
_MOST = 1024


@require_tensors
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """The convolution of a batch of images along as many axes as the kernels have, or transposed.

    Shapes: those of `conv1d` to `conv3d`, or of `conv_transpose1d` to `conv_transpose3d`.

    >>> x, w = torch.ones(1, 2, 5, 5), torch.ones(4, 2, 3, 3)
    >>> torch.convolution(x, w, None, (1, 1), (0, 0), (1, 1), False, (0, 0), 1).shape
    torch.Size([1, 4, 3, 3])
    """
    common("convolution", input, weight, bias)
    given = (stride, padding, dilation, output_padding)
    found = [ints("convolution", *each) for each in zip(STEPS, given, strict=True)]
    return run(input, weight, bias, tuple(found), bool(transposed), groups)


def run(input: Tensor, weight: Any, bias: Any, steps: tuple, transposed: bool, groups: int) -> Any:
    """Check everything, bring it to one form, and compute; `steps` are the values of STEPS."""
    arrays = [None if x is None else x._array for x in (input, weight, bias)]
    key = (
        *[None if x is None else (x.shape, x.dtype) for x in arrays],
        *(steps, transposed, groups),
    )
    found = _checked.get(key)
    if found is None:
        steps = check(input, weight, bias, steps, transposed, groups)
        if len(_checked) == _MOST:
            _checked.clear()
        options = dict(zip(STEPS, steps, strict=True))
        options = {**options, "transposed": transposed, "groups": groups}
        # where nothing is multiplied dtypes may differ, and so may that of a bias
        mixed = any(x is not None and x.dtype is not input.dtype for x in (weight, bias))
        found = _checked[key] = options, mixed
    options, mixed = found
    if mixed:
        both = _dtype_of_nothing(input, weight)
        input, weight = input.to(both), weight.to(both)
        bias = None if bias is None else bias.to(both)
    if not transposed and not input.shape[1]:
        weight = weight[:0]  # PyTorch's result has no channels then
        bias = None
    return _convolution(input, weight, bias, **options)


def _dtype_of_nothing(input: Tensor, weight: Tensor) -> Any:
    """The dtype of a result without elements: the weight counts as a number, as in PyTorch."""
    if input.shape[1]:
        weight = weight.new_empty(())
        return result_type(input, weight)
    return promote_types(input.dtype, weight.dtype)


@family
def _along(n: int) -> Callable:
    """The convolution along `n` axes."""
    name = f"conv{n}d"

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Any:
        given = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        common(name, input, weight, bias, given)
        call = (input, weight, bias, given)
        stride = ints(name, "stride", stride, n, call)
        dilation = ints(name, "dilation", dilation, n, call)
        if type(padding) is not str:
            padding = ints(name, "padding", padding, n, call)
        batched = is_batch(name, n, input)
        if not batched:
            input = input.unsqueeze(0)
        if padding == "valid":
            padding = (0,) * n
        elif type(padding) is str:
            input, padding = _same(n, input, weight, stride, padding, dilation, groups)
        y = run(input, weight, bias, (stride, padding, dilation, (0,) * n), False, groups)
        return y if batched else y.squeeze(0)

    return conv


def _same(
    n: int, input: Tensor, weight: Tensor, stride: tuple, padding: str, dilation: tuple, groups: int
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


@autocast
@_along(1)
def conv1d() -> Any:
    """The convolution of signals (N, C, L), or (C, L), with kernels (O, C / groups, K).

    y[n, o, i] = bias[o] + sum over c, k of
                 weight[o, c, k] * input[n, c, stride * i + dilation * k - padding]

    Outside its bounds the input is zero. The padding is a number of elements on both sides, "valid"
    for none, or "same" for as many as make the result as long as the input.

    There are `(L + 2 padding - dilation (K - 1) - 1) // stride + 1` results for each kernel.

    Shapes: input (N, C, L), weight (O, C / groups, K), bias (O,); result (N, O, L').
    Raises: RuntimeError where channels do not fit, or the kernel is larger than the padded input.

    >>> conv1d = torch.nn.functional.conv1d
    >>> conv1d(torch.tensor([[1.0, 2.0, 4.0, 8.0]]), torch.tensor([[[-1.0, 1.0]]]))
    tensor([[1., 2., 4.]])
    """


@autocast
@_along(2)
def conv2d() -> Any:
    """The convolution of images (N, C, H, W), or (C, H, W), with kernels (O, C / groups, KH, KW).

    y[n, o, i] = bias[o] + sum over c, k of
                 weight[o, c, k] * input[n, c, stride * i + dilation * k - padding]

    with pairs i and k. Arguments are numbers, or pairs (along H, along W); `padding` as in conv1d.

    Shapes: input (N, C, H, W), bias (O,); result (N, O, H', W'), each size as in `conv1d`.
    Raises: RuntimeError where channels do not fit, or the kernel is larger than the padded input.

    >>> conv2d = torch.nn.functional.conv2d
    >>> conv2d(torch.ones(8, 3, 32, 32), torch.ones(16, 3, 5, 5), stride=2).shape
    torch.Size([8, 16, 14, 14])
    """


@autocast
@_along(3)
def conv3d() -> Any:
    """The convolution of volumes (N, C, D, H, W) with kernels (O, C / groups, KD, KH, KW).

    As conv2d, with one more axis; the input may be a single volume (C, D, H, W).

    Shapes: input (N, C, D, H, W), bias (O,); result (N, O, D', H', W').
    Raises: RuntimeError where channels do not fit, or the kernel is larger than the padded input.

    >>> conv3d = torch.nn.functional.conv3d
    >>> conv3d(torch.ones(2, 3, 8, 8, 8), torch.ones(4, 3, 3, 3, 3), padding="same").shape
    torch.Size([2, 4, 8, 8, 8])
    """
