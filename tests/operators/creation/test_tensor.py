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
        (np.array([1, 2], "int64"), "tensor([1, 2])"),
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


def test_a_copy_of_an_array_keeps_the_order_of_its_axes():
    assert torch.tensor(np.ones((2, 3)).T).stride() == (1, 3)


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


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_row_of_floats_is_rounded_once_to_the_default_type(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        row, nested = torch.tensor([0.1, 2.0, 1e-9]), torch.tensor([[0.1, 2.0, 1e-9]])
    finally:
        torch.set_default_dtype(before)
    assert row.dtype is nested.dtype is dtype
    assert row.equal(nested[0])


@pytest.mark.parametrize("n", [5, 500])
def test_lists_of_any_length_are_rounded_to_float32_alike(n):
    numbers = [0.1, -0.0, 1e-46, 1e-40, 3.4028235677973362e38] * (n // 5)
    found = torch.tensor(numbers).numpy()
    assert found.tobytes() == np.array(numbers).astype(np.float32).tobytes()


def test_a_list_that_holds_itself_has_no_end():
    data: list = [0]
    data.append(data)
    with raises(TypeError, "new(): self-referential lists are incompatible"):
        torch.tensor(data)
    with raises(TypeError, "must be real number, not list"):
        torch.Tensor(data)
