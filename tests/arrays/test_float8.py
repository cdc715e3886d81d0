"""Floating-point numbers of 8 bits: their limits, conversions, what computes with them."""

import io
import subprocess
import sys

import numpy as np
import pytest

import tapegrad
from tapegrad.core.dtype import FLOAT8

NAMES = [each.name for each in FLOAT8]
NUMBERS = [0.0, -0.0, 1, -1.5, 3, 5, 6, 0.3, 448, 470, 1000, -1e9, 1e-9, 0.0019, 57344, 6e4, 61440]
NUMBERS += [float("inf"), -float("inf"), float("nan"), 240, 250]

# eps, max, min, smallest normal number
LIMITS = {
    "float8_e4m3fn": (0.125, 448.0, -448.0, 0.015625),
    "float8_e4m3fnuz": (0.125, 240.0, -240.0, 0.0078125),
    "float8_e5m2": (0.25, 57344.0, -57344.0, 2.0**-14),
    "float8_e5m2fnuz": (0.125, 57344.0, -57344.0, 2.0**-15),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127, 2.0**-127),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_limits_are_those_of_pytorch(name):
    x = tapegrad.finfo(getattr(tapegrad, name))
    assert (x.eps, x.max, x.min, x.tiny) == LIMITS[name]
    assert (x.bits, x.resolution, x.dtype, x.smallest_normal) == (8, 1.0, name, x.tiny)


@pytest.mark.parametrize("name", NAMES)
def test_an_element_is_a_byte_of_a_floating_type(name):
    x = getattr(tapegrad, name)
    assert (repr(x), x.itemsize, x.is_floating_point) == (f"torch.{name}", 1, True)
    assert x.is_signed is (name != "float8_e8m0fnu")
    assert tapegrad.ones(3).to(x).nbytes == 3


def test_numbers_beyond_the_largest_become_the_largest_where_there_is_no_inf():
    x = tapegrad.tensor([1000.0, -1e9, float("inf"), 470]).to(tapegrad.float8_e4m3fn)
    assert x.tolist() == [448, -448, 448, 448]
    assert tapegrad.tensor([1e6], dtype=tapegrad.float8_e4m3fn).item() == 448
    assert tapegrad.zeros(1, dtype=tapegrad.float8_e4m3fn).copy_(tapegrad.tensor([1e6])) == 448
    assert tapegrad.tensor([1e6]).to(tapegrad.float8_e5m2).item() == float("inf")


def test_scales_have_no_zero_and_no_sign():
    x = tapegrad.tensor([0.0, -3.0, 3.0]).to(tapegrad.float8_e8m0fnu)
    assert x.tolist() == [2.0**-127, 4, 4]
    assert x.zero_().tolist() == tapegrad.zeros_like(x).tolist() == [2.0**-127] * 3
    with pytest.raises(RuntimeError, match="without overflow"):
        x.fill_(0)


def test_products_round_once():
    x = tapegrad.tensor([[1.0, 2, 4]]).to(tapegrad.float8_e4m3fn)
    assert (x @ x.t()).item() == 20  # 21 lies between 20 and 22
    assert (x * x).tolist() == [[1, 4, 16]]


@pytest.mark.parametrize(
    ("call", "kernel"),
    [
        (lambda x: x + x, "add_stub"),
        (lambda x: x * 2, "mul_cpu_reduced_float"),
        (lambda x: -x, "neg_cpu"),
        (lambda x: x.sum(), "sum_cpu"),
        (lambda x: x < x, "lt_cpu"),
        (lambda x: x.exp(), "exp_vml_cpu"),
        (lambda x: x.max(), "max_all"),
        (lambda x: x.softmax(0), "softmax_kernel_impl"),
        (lambda x: x.uniform_(), "check_uniform_bounds"),
        (lambda x: tapegrad.randn(2, dtype=x.dtype), "normal_kernel_cpu"),
        (lambda x: tapegrad.arange(2, dtype=x.dtype), "arange_cpu"),
    ],
)
def test_what_pytorch_does_not_compute_is_refused(call, kernel):
    text = f"^\"{kernel}\" not implemented for 'Float8_e5m2'"
    with pytest.raises(NotImplementedError, match=text):
        call(tapegrad.ones(3).to(tapegrad.float8_e5m2))


def test_there_is_no_common_type_with_another():
    x = tapegrad.ones(2).to(tapegrad.float8_e4m3fn)
    with pytest.raises(RuntimeError, match=r"^Promotion for Float8 Types is not supported, attemp"):
        x + tapegrad.ones(2)
    with pytest.raises(RuntimeError, match="attempted to promote Float8_e4m3fn and Float8_e5m2"):
        tapegrad.promote_types(tapegrad.float8_e4m3fn, tapegrad.float8_e5m2)


def test_gradients_pass_a_conversion():
    x = tapegrad.tensor([1.0, 3], requires_grad=True)
    (x.to(tapegrad.float8_e5m2).float() * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize("name", NAMES)
def test_moving_keeps_the_bits(name):
    dtype = getattr(tapegrad, name)
    x = tapegrad.tensor([1.0, 2, 4, 8]).to(dtype)
    bits = x.view(tapegrad.uint8)
    for move in (
        lambda y: tapegrad.cat([y, y]),
        lambda y: y[tapegrad.tensor([2, 0])],
        lambda y: y.reshape(2, 2).t().contiguous(),
        lambda y: y.repeat(2),
        lambda y: tapegrad.where(tapegrad.tensor([True, False, True, False]), y, y.clone()),
        lambda y: y.index_select(0, tapegrad.tensor([3])),
    ):
        assert move(x).view(tapegrad.uint8).equal(move(bits))
    assert x.untyped_storage().nbytes() == 4
    with pytest.raises(TypeError, match=r"^Got unsupported ScalarType Float8"):
        x.numpy()


@pytest.mark.parametrize("name", NAMES)
def test_files_keep_them(name):
    x = {"a": tapegrad.tensor([1.0, 2]).to(getattr(tapegrad, name))}
    file = io.BytesIO()
    tapegrad.save(x, file)
    file.seek(0)
    assert tapegrad.load(file)["a"].float().tolist() == [1, 2]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_safetensors_keep_them(name):
    pytest.importorskip("safetensors")
    x = tapegrad.tensor([1.0, 2]).to(getattr(tapegrad, name))
    found = tapegrad.safetensors.load(tapegrad.safetensors.save({"a": x}))["a"]
    assert (found.dtype, found.tolist()) == (x.dtype, [1, 2])


def test_half_bytes_have_a_name_and_no_arrays():
    assert tapegrad.float4_e2m1fn_x2.itemsize == 1
    with pytest.raises(NotImplementedError, match="no type of half a byte"):
        tapegrad.zeros(2, dtype=tapegrad.float4_e2m1fn_x2)
    with pytest.raises(TypeError, match="bad argument type for built-in operation"):
        tapegrad.finfo(tapegrad.float4_e2m1fn_x2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", ["float32", "float64", "float16"])
def test_conversions_give_the_bits_of_pytorch(pytorch, name, source):
    with np.errstate(over="ignore"):
        given = np.array(NUMBERS).astype(source)
    theirs = pytorch.from_numpy(given).to(getattr(pytorch, name)).view(pytorch.uint8)
    ours = tapegrad.from_numpy(given).to(getattr(tapegrad, name)).view(tapegrad.uint8)
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_every_code_is_the_number_of_pytorch(pytorch, name):
    codes = np.arange(256, dtype=np.uint8)
    theirs = pytorch.from_numpy(codes).view(getattr(pytorch, name)).float().numpy()
    ours = tapegrad.from_numpy(codes).view(getattr(tapegrad, name)).float().numpy()
    np.testing.assert_array_equal(ours, theirs)


WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import tapegrad as torch
x = torch.ones(3)
assert x.dtype not in (torch.bfloat16, torch.float8_e5m2) and torch.finfo(torch.bfloat16).bits == 16
assert torch.finfo(torch.float8_e4m3fn).max == 448
with torch.autocast("cpu"):
    assert torch.get_autocast_dtype("cpu") is torch.bfloat16
assert torch.promote_types(torch.bfloat16, torch.float16) is torch.float32
for dtype in (torch.bfloat16, torch.float8_e5m2):
    try:
        x.to(dtype)
    except ImportError as error:
        assert str(error).startswith(f"{dtype} needs the package ml_dtypes"), error
    else:
        raise AssertionError(dtype)
"""


def test_a_mention_needs_no_package():
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)
