"""The old constructors and types, against what PyTorch 2.13 made and said."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


def test_integers_are_sizes_and_sequences_are_data():
    assert torch.Tensor(2, 3).shape == (2, 3)
    assert torch.Tensor(torch.Size([2, 3])).shape == (2, 3)
    assert torch.Tensor(np.int64(3)).shape == (3,)
    assert torch.Tensor([2, 3]).tolist() == [2, 3]
    assert torch.Tensor((2, 3)).tolist() == [2, 3]
    assert torch.Tensor().shape == (0,) and torch.Tensor([]).shape == (0,)
    assert torch.Tensor([True, False]).dtype is torch.float32
    assert torch.Tensor(data=[1]).tolist() == [1]


def test_an_array_of_the_right_dtype_is_shared():
    array = np.ones(2, np.float32)
    x = torch.Tensor(array)
    array[0] = 5
    assert x.tolist() == [5, 1]
    assert torch.Tensor(np.array([1, 2])).dtype is torch.float32


def test_a_tensor_is_taken_as_it_is():
    x = torch.ones(2, dtype=torch.int64)
    y = torch.Tensor(x)
    assert y.dtype is torch.int64 and y is not x and y.data_ptr() == x.data_ptr()
    z = torch.Tensor(torch.ones(2, requires_grad=True))
    assert type(z.grad_fn).__name__ == "AliasBackward0"


@pytest.mark.parametrize(
    ("args", "options", "error", "message"),
    [
        ((3.0,), {}, TypeError, "new(): data must be a sequence (got float)"),
        ((np.float32(3),), {}, TypeError, "new(): data must be a sequence (got numpy.float32)"),
        (("a",), {}, TypeError, "new(): invalid data type 'str'"),
        (([1j],), {}, TypeError, "must be real number, not complex"),
        ((2, -3), {}, RuntimeError, "Trying to create tensor with negative dimension -3: [2, -3]"),
        (
            (2, [3]),
            {},
            TypeError,
            "new(): argument 'size' failed to unpack the object at pos 2 with error \"type must be "
            'tuple of ints,but got list"',
        ),
        (
            ([1],),
            {"device": "cuda"},
            RuntimeError,
            "legacy constructor expects device type: cpu but device type: cuda was passed",
        ),
    ],
)
def test_what_is_neither_is_refused(args, options, error, message):
    with raises(error, message):
        torch.Tensor(*args, **options)


def test_dtype_is_no_option_of_the_old_constructors():
    with pytest.raises(TypeError, match=r"got \(list, dtype=torch.dtype\), but expected one of"):
        torch.Tensor([1], dtype=torch.float32)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("FloatTensor", "float32"),
        ("DoubleTensor", "float64"),
        ("HalfTensor", "float16"),
        ("BFloat16Tensor", "bfloat16"),
        ("LongTensor", "int64"),
        ("IntTensor", "int32"),
        ("ShortTensor", "int16"),
        ("CharTensor", "int8"),
        ("ByteTensor", "uint8"),
        ("BoolTensor", "bool"),
    ],
)
def test_each_type_makes_and_knows_tensors_of_its_dtype(name, dtype):
    kind = getattr(torch, name)
    made = kind([0, 1])
    assert made.dtype.name == dtype and made.tolist() == [0, 1]
    assert repr(kind) == f"<class 'torch.{name}'>"
    assert made.type() == f"torch.{name}"
    assert isinstance(made, kind) and isinstance(made, torch.Tensor)
    assert not isinstance(made, getattr(torch.cuda, name)) and not isinstance(3, kind)
    assert [t for t in (torch.FloatTensor, torch.LongTensor) if isinstance(made, t)] == [
        t for t in (torch.FloatTensor, torch.LongTensor) if t is kind
    ]


def test_a_type_converts_data_and_refuses_tensors_of_another():
    assert torch.LongTensor([1.7, 2]).tolist() == [1, 2]
    assert torch.LongTensor(np.array([1.0, 2])).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"expected TensorOptions\(dtype=double, device=cpu"):
        torch.DoubleTensor(torch.ones(2))
    with raises(RuntimeError, "value cannot be converted to type uint8 without overflow"):
        torch.ByteTensor([300])


def test_types_of_the_gpu_refuse():
    with raises(
        TypeError,
        "type torch.cuda.FloatTensor not available. Torch not compiled with CUDA enabled.",
    ):
        torch.cuda.FloatTensor([1])


def test_a_subclass_makes_tensors_of_its_own_class():
    class Mine(torch.Tensor):
        pass

    x = Mine([1.0, 2])
    assert type(x) is Mine and x.tolist() == [1, 2]


def test_a_tensor_is_taken_without_a_device():
    x = torch.ones(2)
    for make in (torch.Tensor, torch.FloatTensor):
        with raises(
            RuntimeError,
            "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not "
            "supported.  Use torch.tensor(...) or torch.as_tensor(...) instead.",
        ):
            make(x, device="cpu")
    with raises(
        RuntimeError,
        "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported.  Use "
        "torch.as_tensor(...) instead.",
    ):
        x.new(x, device="cpu")
