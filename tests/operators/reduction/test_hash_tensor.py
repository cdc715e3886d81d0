"""Numbers for what tensors hold, against PyTorch 2.13."""

import pytest

import tapegrad as torch
from tests.messages import raises


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_floating_point_numbers_count_as_float64(dtype):
    x = (torch.arange(12).reshape(3, 4) * 3 - 7).to(getattr(torch, dtype))
    assert torch.hash_tensor(x).item() == 18431544424967176192
    rows = [[18445618173802708992], [17451448556060672], [2251799813685248]]
    assert x.hash_tensor(dim=(1,), keepdim=True).tolist() == rows


def test_integers_count_as_int64():
    x = torch.arange(12).reshape(3, 4) * 3 - 7
    down = [18446744073709551597, 18446744073709551584, 18446744073709551587, 22]
    for dtype in (torch.int64, torch.int32, torch.int8):
        assert torch.hash_tensor(x.to(dtype), 0).tolist() == down
    assert torch.hash_tensor(x.to(torch.uint8)).item() == 248
    assert torch.hash_tensor(x.bool(), 0).tolist() == [1, 1, 1, 1]
    assert torch.hash_tensor(torch.tensor(3.0)).item() == 4613937818241073152


def test_views_and_outputs():
    x = torch.arange(12.0).reshape(3, 4)
    assert torch.hash_tensor(x.t(), 1).tolist() == [
        13510798882111488, 4595360469778169856, 4628574517030027264, 4625759767262920704
    ]  # fmt: skip
    out = torch.zeros((), dtype=torch.uint64)
    assert torch.hash_tensor(x, out=out) is out and out.item() == 4609434218613702656
    with raises(RuntimeError, "Expected result to be of dtype uint64, but got Float"):
        torch.hash_tensor(x, out=torch.zeros(()))
    assert not torch.hash_tensor(x.requires_grad_()).requires_grad


def test_what_has_no_hash():
    with raises(RuntimeError, "Unknown hash_tensor mode: 1"):
        torch.hash_tensor(torch.ones(2), mode=1)
    with raises(NotImplementedError, "\"xor_sum_cpu\" not implemented for 'ComplexFloat'"):
        torch.hash_tensor(torch.ones(2, dtype=torch.complex64))
    with raises(
        RuntimeError,
        "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the "
        "reduction dim with the 'dim' argument.",
    ):
        torch.hash_tensor(torch.zeros(0))
    with raises(IndexError, "hash_tensor: Expected reduction dim 0 to have non-zero size."):
        torch.hash_tensor(torch.zeros(0, 3), 0)
