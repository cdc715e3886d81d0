"""Padding: PyTorch's borders, their gradients, and errors."""

import pytest

import tapegrad as torch
from tapegrad import nn
from tests.messages import raises

pad = torch.nn.functional.pad


ROWS = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])


BORDERS = {
    "constant": [[0.0, 0.0, 0.0, 0.0], [2.0, 3.0, 0.0, 0.0], [5.0, 6.0, 0.0, 0.0]],
    "reflect": [[5.0, 6.0, 5.0, 4.0], [2.0, 3.0, 2.0, 1.0], [5.0, 6.0, 5.0, 4.0]],
    "replicate": [[2.0, 3.0, 3.0, 3.0], [2.0, 3.0, 3.0, 3.0], [5.0, 6.0, 6.0, 6.0]],
    "circular": [[5.0, 6.0, 5.0, 6.0], [2.0, 3.0, 2.0, 3.0], [5.0, 6.0, 5.0, 6.0]],
}


GRADIENTS = {
    "constant": [[0.0, 5.0, 6.0], [0.0, 9.0, 10.0]],
    "reflect": [[8.0, 12.0, 6.0], [16.0, 24.0, 12.0]],
    "replicate": [[0.0, 6.0, 30.0], [0.0, 9.0, 33.0]],
    "circular": [[0.0, 12.0, 14.0], [0.0, 24.0, 28.0]],
}


@pytest.mark.parametrize("mode", BORDERS)
def test_the_border_and_its_gradient(mode):
    x = ROWS.clone().requires_grad_()
    y = pad(x, (-1, 2, 1, 0), mode=mode)
    assert y.tolist() == [BORDERS[mode]]
    weights = torch.arange(1.0, 13.0).reshape(1, 3, 4)
    assert torch.autograd.grad(y, x, weights)[0].tolist() == [GRADIENTS[mode]]


def test_the_names_of_the_nodes():
    x = torch.ones(1, 1, 3, 3, requires_grad=True)
    names = [
        type(pad(x, (1, 1, 1, 1), mode).grad_fn).__name__
        for mode in ("constant", "reflect", "replicate")
    ]
    assert names == [
        "ConstantPadNdBackward0",
        "ReflectionPad2DBackward0",
        "ReplicationPad2DBackward0",
    ]


def test_the_value_takes_the_dtype_of_the_tensor():
    assert pad(torch.arange(2), (1, 0), value=3.7).tolist() == [3, 0, 1]
    assert pad(torch.tensor([True]), (1, 1), value=0).tolist() == [False, True, False]
    assert torch.constant_pad_nd(torch.ones(1), [1, 0], 2).tolist() == [2.0, 1.0]
    with pytest.raises(RuntimeError, match="converted to type uint8_t without overflow"):
        pad(torch.zeros(2, dtype=torch.uint8), (1, 0), value=300)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: pad(ROWS, (1,)), RuntimeError, "Padding length must be divisible by 2"),
        (lambda: pad(ROWS, (1,) * 8), RuntimeError, "less than or equal to two times the input"),
        (lambda: pad(ROWS, (-2, -2)), RuntimeError, r"narrow\(\): length must be non-negative"),
        (lambda: pad(ROWS, (3, 0), "reflect"), RuntimeError, "Argument #4: Padding size should be"),
        (lambda: pad(ROWS, (4, 0), "circular"), RuntimeError, "wrapping around more than once"),
        (lambda: pad(ROWS, (1,) * 6, "reflect"), NotImplementedError, "Padding size 6 is not"),
        (lambda: pad(ROWS, (1, 1), "mirror"), NotImplementedError, "Unrecognised padding mode"),
        (lambda: pad(ROWS, (1, 1), "reflect", 1.0), RuntimeError, "doesn't take in value"),
        (lambda: pad(ROWS, 1), TypeError, "must be tuple of ints, not int"),
    ],
    ids=range(9),
)
def test_what_cannot_be_padded_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_an_image_padded_in_memory_order_of_channels_last_stays_so():
    x = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert pad(x, (1, 1, 1, 1), "reflect").stride() == (126, 1, 21, 3)
    assert pad(x, (1, 1, 1, 1), "circular").stride() == (126, 42, 7, 1)


def test_borders_are_constant_mirrored_repeated_or_circular():
    x = torch.tensor([[1.0, 2.0, 3.0]])
    assert nn.ZeroPad1d((1, 2))(x).tolist() == [[0.0, 1.0, 2.0, 3.0, 0.0, 0.0]]
    assert nn.ConstantPad1d(1, 9.0)(x).tolist() == [[9.0, 1.0, 2.0, 3.0, 9.0]]
    assert nn.ReflectionPad1d(1)(x).tolist() == [[2.0, 1.0, 2.0, 3.0, 2.0]]
    assert nn.ReplicationPad1d(1)(x).tolist() == [[1.0, 1.0, 2.0, 3.0, 3.0]]
    assert nn.CircularPad1d(1)(x).tolist() == [[3.0, 1.0, 2.0, 3.0, 1.0]]
    with raises(ValueError, "expected 3D or 4D input (got 2D input)"):
        nn.CircularPad2d(1)(x)


def test_no_border_at_all_is_a_copy_in_the_same_order():
    x = torch.arange(6.0).reshape(2, 3).T
    y = torch.constant_pad_nd(x, [0, 0])
    assert y.tolist() == x.tolist() and y.stride() == x.stride()
    assert y.data_ptr() != x.data_ptr()
