"""Sliding blocks: unfold, fold, and what they refuse."""

import pytest

import tapegrad as torch

F = torch.nn.functional


def test_columns_hold_the_pixels_under_the_kernel():
    x = torch.arange(1.0, 10.0).reshape(1, 1, 3, 3)
    y = F.unfold(x, 2, padding=1, stride=2)
    assert y.tolist() == [
        [[0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 4.0, 6.0], [0.0, 2.0, 0.0, 8.0], [1.0, 3.0, 7.0, 9.0]]
    ]


def test_fold_adds_up_where_unfold_reads():
    columns = torch.arange(1.0, 17.0).reshape(1, 4, 4)
    y = F.fold(columns, (3, 3), 2, padding=1, stride=2)
    assert y.tolist() == [[[[13.0, 10.0, 14.0], [7.0, 4.0, 8.0], [15.0, 12.0, 16.0]]]]
    x = torch.zeros(1, 1, 3, 3, requires_grad=True)
    read = F.unfold(x, 2, padding=1, stride=2)
    assert type(read.grad_fn).__name__ == "Im2ColBackward0"
    assert torch.autograd.grad(read, x, columns)[0].tolist() == y.tolist()


def test_a_convolution_is_a_product_of_the_columns():
    torch.manual_seed(0)
    x, w = torch.randn(2, 3, 6, 5), torch.randn(4, 3, 3, 2)
    y = (w.reshape(4, -1) @ F.unfold(x, (3, 2), dilation=(2, 1))).reshape(2, 4, 2, 4)
    assert torch.allclose(y, F.conv2d(x, w, dilation=(2, 1)), atol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: F.unfold(torch.ones(1, 1, 4, 5), 7), r"array of sliding blocks as \(-2, -1\)"),
        (lambda: F.unfold(torch.ones(1, 1, 4, 5), (3, 3, 3)), "kernel_size equals to 2, but got"),
        (lambda: F.fold(torch.ones(1, 17, 6), (4, 5), 3), "divisible by the product of"),
        (lambda: F.fold(torch.ones(1, 18, 7), (4, 5), 3), r"2 \* 3 = 6, but got input.size\(2\)=7"),
        (lambda: F.fold(torch.ones(1, 18, 6), (4, 5), 3, stride=0), "stride should be greater"),
    ],
    ids=range(5),
)
def test_blocks_that_do_not_fit_are_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
