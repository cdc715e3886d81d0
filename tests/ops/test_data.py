"""Tensors from data, against what PyTorch 2.13 made and said."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises

SUPPORTED = (
    "The only supported types are: float64, float32, float16, complex64, complex128, int64, "
    "int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
)


@pytest.mark.parametrize(
    ("data", "printed"),
    [
        (3, "tensor(3)"),
        (2.5, "tensor(2.5000)"),
        (True, "tensor(True)"),
        (1 + 2j, "tensor(1.+2.j)"),
        ([], "tensor([])"),
        ([[], []], "tensor([], size=(2, 0))"),
        ([1, 2.5], "tensor([1.0000, 2.5000])"),
        ([True, 2], "tensor([1, 2])"),
        ([True, 1j], "tensor([1.+0.j, 0.+1.j])"),
        ([[1, 2], (3, 4)], "tensor([[1, 2],\n        [3, 4]])"),
        (range(3), "tensor([0, 1, 2])"),
        (bytearray(b"ab"), "tensor([97, 98])"),
        ([2**64, 1.0], "tensor([1.8447e+19, 1.0000e+00])"),
        (np.float64(3), "tensor(3., dtype=torch.float64)"),
        (np.bool_(True), "tensor(True)"),
        ([np.float64(1), 2.5], "tensor([1.0000, 2.5000], dtype=torch.float64)"),
        ([np.float32(3), 1], "tensor([3., 1.])"),
        ([np.int32(3)], "tensor([3], dtype=torch.int32)"),
        ([np.int8(3), 2], "tensor([3, 2])"),
        ([np.array([1, 2]), [3.0, 4]], "tensor([[1., 2.],\n        [3., 4.]])"),
        (np.array([1, 2]), "tensor([1, 2])"),
        (np.array([1.0, 2], np.float16), "tensor([1., 2.], dtype=torch.float16)"),
    ],
)
def test_the_dtype_and_shape_of_data_are_inferred(data, printed):
    assert repr(torch.tensor(data)) == printed


@pytest.mark.parametrize(
    ("data", "dtype", "printed"),
    [
        (2.7, torch.int32, "tensor(2, dtype=torch.int32)"),
        (-1, torch.uint8, "tensor(255, dtype=torch.uint8)"),
        (0.5, torch.bool, "tensor(True)"),
        (1e6, torch.float16, "tensor(inf, dtype=torch.float16)"),
        (2**63, torch.uint64, "tensor(9223372036854775808, dtype=torch.uint64)"),
        (2**80, torch.float32, "tensor(1.2089e+24)"),
        ([1.5, 2], torch.bfloat16, "tensor([1.5000, 2.0000], dtype=torch.bfloat16)"),
        ([[1, 2]], torch.complex64, "tensor([[1.+0.j, 2.+0.j]])"),
        (1.0, float, "tensor(1., dtype=torch.float64)"),
    ],
)
def test_data_is_converted_to_the_dtype_that_is_given(data, dtype, printed):
    assert repr(torch.tensor(data, dtype=dtype)) == printed


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        ([[1, 2], [3, 4, 5]], {}, ValueError, "expected sequence of length 2 at dim 1 (got 3)"),
        ([[1, 2], 3], {}, TypeError, "not a sequence"),
        ([1, [2]], {}, TypeError, "'list' object cannot be interpreted as an integer"),
        ("abc", {}, TypeError, "new(): invalid data type 'str'"),
        (["a"], {}, ValueError, "too many dimensions 'str'"),
        ([1, "2"], {}, TypeError, "new(): invalid data type 'str'"),
        (None, {}, RuntimeError, "Could not infer dtype of NoneType"),
        ({1: 2}, {}, RuntimeError, "Could not infer dtype of dict"),
        (torch.float32, {}, RuntimeError, "Could not infer dtype of torch.dtype"),
        (2**63, {}, ValueError, "Overflow when unpacking long long"),
        (
            300,
            {"dtype": torch.uint8},
            RuntimeError,
            "value cannot be converted to type uint8 without overflow",
        ),
        (
            float("nan"),
            {"dtype": torch.int32},
            RuntimeError,
            "value cannot be converted to type int32 without overflow",
        ),
        (1j, {"dtype": torch.float32}, TypeError, "must be real number, not complex"),
        (
            [1, 2],
            {"requires_grad": True},
            RuntimeError,
            "Only Tensors of floating point and complex dtype can require gradients",
        ),
        (
            [1.0],
            {"requires_grad": 1},
            TypeError,
            "tensor(): argument 'requires_grad' must be bool, not int",
        ),
        (
            1.0,
            {"dtype": "float32"},
            TypeError,
            "tensor(): argument 'dtype' must be torch.dtype, not str",
        ),
        (
            np.array(["a"]),
            {},
            TypeError,
            f"can't convert np.ndarray of type numpy.str_. {SUPPORTED}",
        ),
        (
            [torch.ones(2)],
            {},
            ValueError,
            "only one element tensors can be converted to Python scalars",
        ),
    ],
)
def test_data_that_is_no_tensor_is_refused_in_pytorchs_words(data, options, error, message):
    if "np.ndarray" in message:
        with pytest.raises(error) as caught:
            torch.tensor(data, **options)
        assert str(caught.value).partition("\n")[0] == message
        return
    with raises(error, message):
        torch.tensor(data, **options)


def test_a_list_that_contains_itself_is_refused():
    data = []
    data.append(data)
    with raises(ValueError, "too many dimensions 'list'"):
        torch.tensor(data)


def test_tensors_of_one_element_count_as_numbers():
    assert repr(torch.tensor([torch.tensor(1), 2.5])) == "tensor([1.0000, 2.5000])"
    assert repr(torch.tensor([torch.tensor([1]), torch.tensor([2])])) == "tensor([1, 2])"


def test_a_copy_of_a_tensor_has_no_history_and_warns():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended"):
        y = torch.tensor(x)
    assert not y.requires_grad and y.data_ptr() != x.data_ptr()


def test_a_list_of_arrays_warns():
    with pytest.warns(UserWarning, match="list of numpy.ndarrays is extremely slow"):
        x = torch.tensor([np.array([1.0, 2]), np.array([3.0, 4])])
    assert x.dtype is torch.float64 and x.tolist() == [[1, 2], [3, 4]]


def test_the_default_dtype_is_that_of_floats():
    torch.set_default_dtype(torch.float64)
    try:
        made = [torch.tensor(1.5), torch.tensor(1j), torch.ones(1), torch.Tensor([1])]
        made += [torch.arange(3.0), torch.linspace(0, 1, 2), torch.full((1,), 2.0)]
    finally:
        torch.set_default_dtype(torch.float32)
    assert [x.dtype.name for x in made] == ["float64", "complex128", *["float64"] * 5]


def test_tensor_copies_and_from_numpy_shares():
    array = np.zeros(2)
    copied, shared = torch.tensor(array), torch.from_numpy(array)
    array[0] = 5
    assert copied.tolist() == [0, 0] and shared.tolist() == [5, 0]
    shared[1] = 7
    assert array.tolist() == [5, 7]


def test_a_copy_of_an_array_keeps_the_order_of_its_axes():
    assert torch.tensor(np.ones((2, 3)).T).stride() == (1, 3)


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


def test_scalar_tensor_has_the_default_dtype():
    assert repr(torch.scalar_tensor(True)) == "tensor(1.)"
    assert repr(torch.scalar_tensor(3.7, dtype=torch.int64)) == "tensor(3)"
    with raises(TypeError, "scalar_tensor(): argument 's' (position 1) must be Number, not str"):
        torch.scalar_tensor("a")
    with raises(RuntimeError, "value cannot be converted to type float without overflow"):
        torch.scalar_tensor(3j)


def test_tensors_made_in_inference_mode_are_inference_tensors():
    with torch.inference_mode():
        made = [torch.tensor([1.0]), torch.ones(2), torch.zeros_like(torch.ones(2))]
    assert all(x.is_inference() for x in made)


def test_nothing_is_made_on_a_gpu():
    with pytest.raises(AssertionError, match="with CUDA enabled"):
        torch.tensor(1.0, device="cuda")
    with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA"):
        torch.tensor(1.0, pin_memory=True)
