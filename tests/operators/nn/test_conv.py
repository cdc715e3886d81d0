"""Convolutions: PyTorch's numbers, graphs and errors."""

import numpy as np
import pytest

import tapegrad as torch

F = torch.nn.functional


def counting(*shape):
    """1, 2, 3, ... in `shape`."""
    n = int(np.prod(shape))
    return torch.arange(1.0, n + 1).reshape(shape)


def test_a_convolution_is_sums_of_products_under_the_kernel():
    x, w = counting(1, 2, 3, 4), counting(2, 2, 2, 2) - 8
    y = F.conv2d(x, w, torch.tensor([1.0, -1.0]))
    assert y.tolist() == [
        [
            [[-151.0, -179.0, -207.0], [-263.0, -291.0, -319.0]],
            [[455.0, 491.0, 527.0], [599.0, 635.0, 671.0]],
        ]
    ]


def test_stride_padding_dilation_and_groups():
    x, w = counting(1, 2, 3, 4), counting(2, 2, 2, 2) - 8
    y = F.conv2d(x, w, stride=(2, 1), padding=1, dilation=(1, 2))
    assert y[0, 0].tolist() == [[-8.0, -30.0, -40.0, -30.0], [-112.0, -276.0, -304.0, -184.0]]
    y = F.conv2d(x, counting(2, 1, 2, 2) - 4, groups=2)
    assert y[0, 1].tolist() == [[164.0, 174.0, 184.0], [204.0, 214.0, 224.0]]


def test_same_padding_has_the_odd_pixel_at_the_end():
    y = F.conv1d(counting(1, 1, 5), counting(1, 1, 4), padding="same")
    assert y.tolist() == [[[20.0, 30.0, 40.0, 26.0, 14.0]]]
    x = torch.ones(1, 1, 5, requires_grad=True)
    y = F.conv1d(x, torch.ones(1, 1, 4), padding="same")
    assert type(y.grad_fn.next_functions[0][0]).__name__ == "ConstantPadNdBackward0"
    y = F.conv1d(x, torch.ones(1, 1, 4), padding="valid")
    assert y.shape == (1, 1, 2)


def test_a_transposed_convolution_puts_kernels_side_by_side():
    x, w = counting(1, 2, 3, 4)[:, :, :2, :2], counting(2, 2, 2, 2) - 8
    bias = torch.tensor([1.0, -1.0])
    y = F.conv_transpose2d(x, w, bias, stride=2, padding=1, output_padding=1)
    assert y[0, 1].tolist() == [[103.0, 95.0, 111.0], [91.0, 71.0, 95.0], [135.0, 119.0, 143.0]]
    y = F.conv_transpose1d(counting(1, 2), counting(1, 1, 3), dilation=2, output_padding=1)
    assert y.tolist() == [[1.0, 2.0, 2.0, 4.0, 3.0, 6.0, 0.0]]


def test_three_dimensions_complex_numbers_and_integers():
    y = F.conv3d(counting(1, 2, 2, 2, 2), counting(1, 2, 1, 2, 2))
    assert y.flatten().tolist() == [308.0, 452.0]
    y = F.conv1d(torch.tensor([[1 + 1j, 2 - 1j, 3j]]), torch.tensor([[[1j, 2]]]))
    assert y.tolist() == [[3 - 1j, 1 + 8j]]
    y = F.conv2d(counting(1, 1, 2, 3).long(), counting(1, 1, 2, 2).long())
    assert y.dtype is torch.int64 and y.flatten().tolist() == [37, 47]


def test_time_first():
    y = torch.conv_tbc(counting(3, 1, 2), counting(2, 2, 1), torch.tensor([1.0]), 1)
    assert y.flatten().tolist() == [12.0, 31.0, 51.0, 18.0]


def test_gradients_of_gradients():
    x = counting(1, 1, 3, 3).requires_grad_()
    w = (counting(1, 1, 2, 2) - 2).requires_grad_()
    b = torch.zeros(1, requires_grad=True)
    y = F.conv2d(x, w, b, padding=1, stride=2)
    first = torch.autograd.grad((y**2).sum(), [x, w, b], create_graph=True)
    assert first[1].flatten().tolist() == [210.0, 364.0, 368.0, 626.0]
    second = torch.autograd.grad(sum((g**2).sum() for g in first), [x, w, b])
    assert second[0].flatten().tolist() == [
        *(10864.0, 22912.0, 42304.0, 20384.0, -30976.0, 30576.0, 83376.0, 79528.0, 149816.0)
    ]
    assert second[1].flatten().tolist() == [239552.0, 388336.0, 415240.0, 654280.0]
    assert second[2].tolist() == [86840.0]


def test_the_graph_is_one_node_with_an_edge_for_each_argument():
    x, w, b = (torch.ones(*s, requires_grad=True) for s in ((2, 4, 6, 6), (8, 4, 3, 3), (8,)))
    node = F.conv2d(x, w, b, stride=2).grad_fn
    assert type(node).__name__ == "ConvolutionBackward0"
    names = [type(edge).__name__ for edge, _ in node.next_functions]
    assert names == ["AccumulateGrad"] * 3
    assert node._saved_stride == (2, 2) and node._saved_transposed is False
    assert F.conv2d(x, w).grad_fn.next_functions[2] == (None, 0)
    assert type(F.conv2d(x[0], w, b).grad_fn).__name__ == "SqueezeBackward1"


def test_channels_last_stay_last():
    x = torch.ones(2, 3, 5, 5).to(memory_format=torch.channels_last)
    assert F.conv2d(x, torch.ones(4, 3, 3, 3)).stride() == (36, 1, 12, 4)
    assert F.conv2d(x.transpose(2, 3), torch.ones(4, 3, 3, 3)).stride() == (36, 9, 3, 1)


def test_batches_without_images():
    y = F.conv2d(torch.ones(0, 3, 5, 5), torch.ones(4, 3, 3, 3), torch.ones(4))
    assert y.shape == (0, 4, 3, 3)


def error_of(call):
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call()
    assert caught.value.__notes__, "an error without advice"
    return f"{type(caught.value).__name__}: {caught.value}".partition("\n")[0]


x, w = torch.ones(2, 4, 6, 6), torch.ones(8, 4, 3, 3)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (
            lambda: F.conv2d(x, torch.ones(8, 3, 3, 3)),
            "RuntimeError: Given groups=1, weight of size [8, 3, 3, 3], expected input[2, 4, 6, 6] "
            "to have 3 channels, but got 4 channels instead",
        ),
        (
            lambda: F.conv2d(x[0, 0], w),
            "RuntimeError: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input "
            "of size: [6, 6]",
        ),
        (
            lambda: F.conv2d(x, w, torch.ones(7)),
            "RuntimeError: Given weight of size [8, 4, 3, 3], expected bias to be 1-dimensional "
            "with 8 elements, but got bias of size [7] instead",
        ),
        (
            lambda: F.conv2d(x, w.double()),
            "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.DoubleTensor) "
            "should be the same or input should be a MKLDNN tensor and weight is a dense tensor",
        ),
        (
            lambda: F.conv2d(x, w, torch.ones(8).double()),
            "RuntimeError: Input type (float) and bias type (double) should be the same",
        ),
        (lambda: F.conv2d(x, w, stride=0), "RuntimeError: non-positive stride is not supported"),
        (lambda: F.conv2d(x, w, padding=-1), "RuntimeError: negative padding is not supported"),
        (
            lambda: F.conv2d(x, torch.ones(8, 4, 7, 7)),
            "RuntimeError: Calculated padded input size per channel: (6 x 6). Kernel size: "
            "(7 x 7). Kernel size can't be greater than actual input size",
        ),
        (
            lambda: F.conv2d(x, w, stride=(1, 1, 1)),
            "RuntimeError: expected stride to be a single integer value or a list of 2 values to "
            "match the convolution dimensions, but got stride=[1, 1, 1]",
        ),
        (
            lambda: F.conv2d(x, w, padding="same", stride=2),
            "RuntimeError: padding='same' is not supported for strided convolutions",
        ),
        (lambda: F.conv2d(x, w, padding="full"), "RuntimeError: Invalid padding string: 'full'"),
        (
            lambda: F.conv2d(x, w, stride=1.5),
            "TypeError: conv2d() received an invalid combination of arguments - got (Tensor, "
            "Tensor, stride=float), but expected one of:",
        ),
        (
            lambda: F.conv_transpose2d(torch.ones(2, 8, 5, 5), w, output_padding=1),
            "RuntimeError: output padding must be smaller than either stride or dilation, but got "
            "output_padding_height: 1 output_padding_width: 1 stride_height: 1 stride_width: 1 "
            "dilation_height: 1 dilation_width: 1",
        ),
        (
            lambda: F.conv_transpose2d(x, w),
            "RuntimeError: Given transposed=1, weight of size [8, 4, 3, 3], expected "
            "input[2, 4, 6, 6] to have 8 channels, but got 4 channels instead",
        ),
        (
            lambda: F.conv_transpose2d(torch.ones(2, 8, 5, 5), w, padding="same"),
            "TypeError: conv_transpose2d(): argument 'padding' must be tuple of ints, not str",
        ),
    ],
    ids=range(15),
)
def test_what_does_not_fit_is_refused_in_pytorchs_words(call, expected):
    assert error_of(call) == expected


def test_integers_of_other_sizes_are_refused_where_pytorch_refuses_them():
    ones = torch.ones(1, 2, 5, 5).int()
    assert F.conv2d(ones, torch.ones(1, 2, 2, 2).int()).dtype is torch.int32
    with pytest.raises(NotImplementedError, match="slow_conv_dilated<>"):
        F.conv2d(ones, torch.ones(1, 2, 2, 2).int(), dilation=2)


def test_no_signals_at_all_keep_their_dtype():
    x, kernel = torch.zeros(0, 4, 4), torch.ones(2, 4, 2, dtype=torch.float64)
    assert torch.nn.functional.conv1d(x, kernel).dtype is torch.float32
    assert torch.nn.functional.conv1d(x.half(), kernel.float()).dtype is torch.float16
    assert torch.nn.functional.conv1d(x.long(), kernel).dtype is torch.float64
