"""Other dtypes and devices, against what PyTorch 2.13 gave and said."""

import sys

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda x: x.to(torch.float64), "float64"),
        (lambda x: x.to("cpu", torch.float64), "float64"),
        (lambda x: x.to(torch.device("cpu"), torch.int8), "int8"),
        (lambda x: x.to(torch.ones(1, dtype=torch.int32)), "int32"),
        (lambda x: x.to(device="cpu", dtype=torch.int32, non_blocking=True, copy=True), "int32"),
        (lambda x: x.to(torch.int32, True, True), "int32"),
        (lambda x: x.to(float), "float64"),
        (lambda x: x.to(), "float32"),
        (lambda x: x.to(None), "float32"),
        (lambda x: x.type(torch.DoubleTensor), "float64"),
        (lambda x: x.type("torch.DoubleTensor"), "float64"),
        (lambda x: x.type(torch.int32), "int32"),
        (lambda x: x.type_as(torch.tensor(3)), "int64"),
        (lambda x: x.double(), "float64"),
        (lambda x: x.half(), "float16"),
        (lambda x: x.bfloat16(), "bfloat16"),
        (lambda x: x.int(), "int32"),
        (lambda x: x.long(), "int64"),
        (lambda x: x.short(), "int16"),
        (lambda x: x.char(), "int8"),
        (lambda x: x.byte(), "uint8"),
        (lambda x: x.bool(), "bool"),
        (lambda x: x.cfloat(), "complex64"),
        (lambda x: x.cdouble(), "complex128"),
    ],
)
def test_each_form_converts(call, dtype):
    assert call(torch.ones(2)).dtype.name == dtype


def test_nothing_is_copied_where_nothing_changes():
    x = torch.ones(2)
    same = [x.to(torch.float32), x.to("cpu"), x.float(), x.cpu(), x.type(torch.FloatTensor)]
    assert all(y is x for y in same)
    assert x.to(torch.float32, copy=True) is not x


def test_gradients_flow_back_in_their_own_dtype():
    x = torch.ones(2, requires_grad=True)
    y = x.to(torch.float64)
    assert repr(y) == "tensor([1., 1.], dtype=torch.float64, grad_fn=<ToCopyBackward0>)"
    (y * 3).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [3, 3]
    assert not x.to(torch.int64).requires_grad


def test_a_gradient_of_a_complex_conversion_is_real():
    x = torch.ones(2, requires_grad=True)
    (x.to(torch.complex64) * 2j).abs().sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2, 2]


@pytest.mark.skipif(sys.platform == "emscripten", reason="WebAssembly makes others of them")
def test_numbers_out_of_range_become_what_pytorch_makes_of_them():
    x = torch.tensor([1.7, -1.7, 300.0, float("nan"), float("inf")])
    assert x.byte().tolist() == [1, 255, 44, 0, 0]
    assert x.char().tolist() == [1, -1, 44, 0, 0]
    assert x.int().tolist() == [1, -1, 300, -(2**31), -(2**31)]
    assert x.bool().tolist() == [True] * 5


def test_an_imaginary_part_is_dropped_with_a_warning():
    x = torch.tensor([1.5 + 1j, 2])
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert x.float().tolist() == [1.5, 2]
    assert torch.tensor([0j, 1j]).bool().tolist() == [False, True]


def test_the_order_in_memory_is_kept_unless_asked():
    x = torch.ones(4, 6).t()
    assert x.double().stride() == (1, 6)
    assert x.double(memory_format=torch.contiguous_format).stride() == (4, 1)
    assert torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    one_channel = torch.ones(2, 1, 4, 5)  # its strides tell two formats: it counts as row by row
    copy = one_channel.to(memory_format=torch.channels_last)
    assert copy is not one_channel and copy.to(memory_format=torch.channels_last) is copy
    assert x.t().to(memory_format=torch.contiguous_format).stride() == x.t().stride()
    assert torch.ones(3, 1).expand(3, 4).double().stride() == (4, 1)


@pytest.mark.parametrize(
    ("args", "options", "given"),
    [
        (([1],), {}, "list"),
        ((np.float64,), {}, "type"),
        ((), {"foo": 3}, "foo=int, "),
        ((torch.float64, torch.float32), {}, "torch.dtype, torch.dtype"),
        ((torch.float64,), {"device": "cpu"}, "torch.dtype, device=str"),
    ],
)
def test_other_forms_are_refused(args, options, given):
    with pytest.raises(TypeError) as caught:
        torch.ones(2).to(*args, **options)
    lines = str(caught.value).splitlines()
    assert lines[0] == (
        f"to() received an invalid combination of arguments - got ({given}), but expected one of:"
    )
    assert lines[2] == (
        " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, "
        "torch.memory_format memory_format = None)"
    )


def test_there_is_no_gpu():
    for move in (lambda x: x.to("cuda"), lambda x: x.cuda(), lambda x: x.cuda(0)):
        with pytest.raises((AssertionError, RuntimeError)):
            move(torch.ones(2))


def test_a_type_has_a_name():
    assert torch.ones(2).type() == "torch.FloatTensor"
    with raises(ValueError, "invalid type: 'DoubleTensor'"):
        torch.ones(2).type("DoubleTensor")
    with raises(TypeError, "dtype must be a type, str, or dtype object"):
        torch.ones(2).type(3)
    with raises(TypeError, "type_as(): argument 'other' (position 1) must be Tensor, not int"):
        torch.ones(2).type_as(3)


def test_a_tensor_that_was_used_moves_to_meta():
    x = torch.ones(2)
    x + 1
    assert x.to("meta").is_meta
