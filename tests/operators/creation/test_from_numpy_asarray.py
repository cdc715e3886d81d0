"""Tensors on memory of others, against what PyTorch 2.13 made and said."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


def test_tensor_copies_and_from_numpy_shares():
    array = np.zeros(2)
    copied, shared = torch.tensor(array), torch.from_numpy(array)
    array[0] = 5
    assert copied.tolist() == [0, 0] and shared.tolist() == [5, 0]
    shared[1] = 7
    assert array.tolist() == [5, 7]


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        ([1], TypeError, "expected np.ndarray (got list)"),
        (np.float32(1), TypeError, "expected np.ndarray (got numpy.float32)"),
        (
            np.zeros(3, [("a", "u1"), ("b", "f4")])["b"],
            ValueError,
            "given numpy array strides not a multiple of the element byte size. Copy the numpy "
            "array to reallocate the memory.",
        ),
        (
            np.arange(3)[::-1],
            ValueError,
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array  with array.copy().) ",
        ),
    ],
)
def test_arrays_that_no_tensor_can_share_are_refused(array, error, message):
    with raises(error, message):
        torch.from_numpy(array)


def test_a_read_only_array_warns():
    array = np.ones(2)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        torch.from_numpy(array)


def test_as_tensor_keeps_tensors_and_shares_arrays():
    x = torch.ones(2, requires_grad=True)
    array = np.ones(2)
    assert torch.as_tensor(x) is x
    converted = torch.as_tensor(x, dtype=torch.float64)
    assert type(converted.grad_fn).__name__ == "ToCopyBackward0"
    shared, other = torch.as_tensor(array), torch.as_tensor(array, dtype=torch.float32)
    array[0] = 5
    assert shared.tolist() == [5, 1] and other.tolist() == [1, 1]


def test_asarray_takes_what_the_array_standard_says():
    array = np.ones(2)
    shared, copied = torch.asarray(array), torch.asarray(array, copy=True)
    array[0] = 5
    assert shared.tolist() == [5, 1] and copied.tolist() == [1, 1]
    assert repr(torch.asarray(b"abcd", dtype=torch.int32)) == (
        "tensor([1684234849], dtype=torch.int32)"
    )
    x = torch.ones(2)
    assert torch.asarray(x) is x
    y = torch.ones(2, requires_grad=True) * 2
    assert type(torch.asarray(y, copy=True).grad_fn).__name__ == "CloneBackward0"
    with raises(ValueError, "can't alias arbitrary sequence into a tensor."):
        torch.asarray([1], copy=False)


def test_asarray_of_a_leaf_warns_that_it_stays_one():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="unspecified requires_grad now defaults"):
        assert torch.asarray(x) is x


def test_frombuffer_reads_elements_from_an_offset():
    buffer = bytearray(b"abcdefgh")
    assert torch.frombuffer(buffer, dtype=torch.int32).tolist() == [1684234849, 1751606885]
    assert torch.frombuffer(buffer, dtype=torch.int32, offset=4).tolist() == [1751606885]
    part = torch.frombuffer(buffer, dtype=torch.uint8, count=2, offset=3)
    assert part.tolist() == [100, 101]
    part[0] = 120
    assert buffer == b"abcxefgh"


@pytest.mark.parametrize(
    ("size", "options", "message"),
    [
        (
            8,
            {"offset": 3},
            "buffer length (5 bytes) after offset (3 bytes) must be a multiple of element size (4)",
        ),
        (
            8,
            {"count": 3},
            "requested buffer length (3 * 4 bytes) after offset (0 bytes) must not be greater than "
            "actual buffer length (8 bytes)",
        ),
        (0, {}, "both buffer length (0) and count (-1) must not be 0"),
        (
            8,
            {"offset": 8},
            "offset (8 bytes) must be non-negative and no greater than buffer length (8 bytes) "
            "minus 1",
        ),
    ],
)
def test_frombuffer_stays_inside_the_buffer(size, options, message):
    with raises(ValueError, message):
        torch.frombuffer(bytearray(size), dtype=torch.int32, **options)
