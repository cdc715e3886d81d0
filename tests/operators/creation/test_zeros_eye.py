"""Tensors of one value, against what PyTorch 2.13 made and said."""

import sys

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


@pytest.mark.parametrize(
    ("made", "shape"),
    [
        (torch.zeros(2, 3), (2, 3)),
        (torch.zeros([2, 3]), (2, 3)),
        (torch.zeros(torch.Size([2])), (2,)),
        (torch.zeros(()), ()),
        (torch.zeros(size=(2,)), (2,)),
        (torch.zeros(torch.tensor(2), 3), (2, 3)),
        (torch.zeros((np.int64(2), 3)), (2, 3)),
        (torch.empty(2, 0), (2, 0)),
    ],
)
def test_sizes_come_one_by_one_or_in_a_sequence(made, shape):
    assert made.shape == shape and made.dtype is torch.float32


@pytest.mark.parametrize(
    ("size", "error", "message"),
    [
        ((), TypeError, 'zeros() missing 1 required positional arguments: "size"'),
        ((2, -3), RuntimeError, "zeros: Dimension size must be non-negative."),
        (
            (2.0,),
            TypeError,
            "zeros(): argument 'size' (position 1) must be tuple of ints, not float",
        ),
        (
            ((2.0,),),
            TypeError,
            "zeros(): argument 'size' (position 1) must be tuple of ints, but found element of "
            "type float at pos 0",
        ),
        (
            ((2, "a"),),
            TypeError,
            "zeros(): argument 'size' failed to unpack the object at pos 2 with error \"type must "
            'be tuple of ints,but got str"',
        ),
        (
            (np.ones(2),),
            TypeError,
            "zeros(): argument 'size' (position 1) must be tuple of ints, not numpy.ndarray",
        ),
        (
            (2**62, 2**62),
            RuntimeError,
            "Storage size calculation overflowed with "
            "sizes=[4611686018427387904, 4611686018427387904]",
        ),
        ((0, 4, 2**61), RuntimeError, "Stride calculation overflowed"),
    ],
)
def test_what_is_no_shape_is_refused(size, error, message):
    with raises(error, message):
        torch.zeros(*size)


def test_options_are_taken_and_refused():
    assert torch.zeros(2, dtype=torch.int32).dtype is torch.int32
    assert torch.ones(2, requires_grad=True).requires_grad
    assert torch.zeros(2, layout=torch.strided, device="cpu").layout is torch.strided
    with raises(
        RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"
    ):
        torch.zeros(2, requires_grad=True, dtype=torch.int64)
    with pytest.raises(NotImplementedError, match=r"matrices of elements alone are there"):
        torch.zeros(2, layout=torch.sparse_csr)


@pytest.mark.skipif(sys.maxsize < 2**58, reason="there are no such addresses")
def test_the_bytes_that_are_not_there_are_counted():
    with pytest.raises(RuntimeError, match="you tried to allocate 2305843009213693952 bytes"):
        torch.zeros(1 << 58, dtype=torch.float64)


def test_requires_grad_is_kept_under_no_grad():
    with torch.no_grad():
        assert torch.zeros(2, requires_grad=True).requires_grad


def test_out_is_resized_and_filled():
    out = torch.empty(5, dtype=torch.int32)
    assert torch.ones(2, 3, out=out) is out
    assert out.tolist() == [[1, 1, 1], [1, 1, 1]]
    with raises(RuntimeError, "dtype Float does not match dtype of out parameter (Int)"):
        torch.zeros(2, out=out, dtype=torch.float32)
    with pytest.raises(RuntimeError, match=r"aten::zeros\(\): functions with out=... arguments"):
        torch.zeros(2, out=torch.empty(2, requires_grad=True))


@pytest.mark.parametrize(
    ("value", "dtype", "printed"),
    [
        (3, None, "tensor([3, 3])"),
        (3.5, None, "tensor([3.5000, 3.5000])"),
        (True, None, "tensor([True, True])"),
        (3j, None, "tensor([0.+3.j, 0.+3.j])"),
        (torch.tensor(3), None, "tensor([3, 3])"),
        (np.bool_(True), None, "tensor([1., 1.])"),
        (np.int32(2), None, "tensor([2, 2])"),
        (3.7, torch.int64, "tensor([3, 3])"),
        (-255, torch.uint8, "tensor([1, 1], dtype=torch.uint8)"),
        (float("nan"), torch.bool, "tensor([True, True])"),
    ],
)
def test_full_takes_the_dtype_of_its_value(value, dtype, printed):
    assert repr(torch.full((2,), value, dtype=dtype)) == printed


@pytest.mark.parametrize(
    ("value", "dtype", "error", "message"),
    [
        (1e40, None, RuntimeError, "value cannot be converted to type float without overflow"),
        (
            1e300,
            torch.float16,
            RuntimeError,
            "value cannot be converted to type c10::Half without overflow",
        ),
        (
            -256,
            torch.uint8,
            RuntimeError,
            "value cannot be converted to type uint8_t without overflow",
        ),
        (
            -1.5,
            torch.uint8,
            RuntimeError,
            "value cannot be converted to type uint8_t without overflow",
        ),
        (2**63, None, RuntimeError, "value cannot be converted to type int64_t without overflow"),
        (2**64, None, OverflowError, "int too big to convert"),
        (
            1e40,
            torch.complex64,
            RuntimeError,
            "value cannot be converted to type c10::complex<float> without overflow",
        ),
        (
            "a",
            None,
            TypeError,
            "full(): argument 'fill_value' (position 2) must be Number, not str",
        ),
        (
            torch.ones(1),
            None,
            TypeError,
            "full(): argument 'fill_value' (position 2) must be Number, not Tensor",
        ),
    ],
)
def test_full_refuses_what_the_dtype_cannot_hold(value, dtype, error, message):
    with raises(error, message):
        torch.full((2,), value, dtype=dtype)


def test_eye_has_ones_on_the_diagonal():
    assert torch.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert torch.eye(n=3, m=2, dtype=torch.bool).sum().item() == 2
    with raises(RuntimeError, "n must be greater or equal to 0, got -1"):
        torch.eye(-1)
    with raises(TypeError, "eye(): argument 'n' (position 1) must be int, not float"):
        torch.eye(2.0)


def test_memory_is_laid_out_as_asked():
    assert torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    assert torch.empty_strided((2, 3), (1, 2)).stride() == (1, 2)
    assert torch.empty_strided((2, 3), (5, 1)).stride() == (5, 1)
    assert torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)
    with raises(RuntimeError, "required rank 4 tensor to use channels_last format"):
        torch.empty(2, 3, memory_format=torch.channels_last)
    with raises(RuntimeError, "unsupported memory format Preserve"):
        torch.empty(2, 3, memory_format=torch.preserve_format)
    with raises(
        RuntimeError, "dimensionality of sizes (2) must match dimensionality of strides (1)"
    ):
        torch.empty_strided((2, 3), (1,))
    with raises(RuntimeError, "Duplicate dim not allowed"):
        torch.empty_permuted((2, 3), (0, 0))
