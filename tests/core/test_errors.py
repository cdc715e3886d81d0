"""Sizes and strides that 64 bits do not count: an error of PyTorch's class, and nothing is made."""

import sys

import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning

F = torch.nn.functional
HUGE = 2**62
ONES = torch.ones(2)
NONE = torch.ones(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ONES.new_zeros(HUGE, 4, 0), f"with sizes={[HUGE, 4, 0]}"),
        (lambda: torch.zeros(HUGE, 4, 0), f"with sizes={[HUGE, 4, 0]}"),
        (lambda: torch.empty(HUGE, 4), f"with sizes={[HUGE, 4]}"),
        (lambda: torch.full((HUGE, 4, 0), 1.0), f"with sizes={[HUGE, 4, 0]}"),
        (lambda: torch.rand(HUGE, 4, 0), ""),
        (lambda: torch.randint(3, (HUGE, 4)), ""),
        (lambda: torch.eye(2**32, 2**32), ""),
        (lambda: torch.arange(2**62), ""),
        (lambda: torch.empty_strided((2,), (HUGE,)), f"with sizes=[2] and strides={[HUGE]}"),
        (lambda: ONES.new_empty_strided((3,), (HUGE,)), f"with sizes=[3] and strides={[HUGE]}"),
        (lambda: ONES.as_strided((5,), (HUGE,)), f"with sizes=[5] and strides={[HUGE]}"),
        (lambda: ONES.as_strided((HUGE, 4), (0, 0)), ""),
        (lambda: ONES.as_strided_((HUGE, 4), (0, 0)), ""),
        (lambda: ONES.unfold(0, 1, HUGE), ""),
        (lambda: F.pad(ONES, (HUGE, 0)), ""),
        (lambda: F.pad(torch.ones(1, 2, 2), (HUGE, 0), mode="replicate"), ""),
        (lambda: torch.cat([torch.ones(1, dtype=torch.uint8).expand(HUGE)] * 2), ""),
        (lambda: F.fold(torch.ones(1, 4, 1), 2, 2, padding=HUGE), None),
        (lambda: torch.diag_embed(ONES, offset=HUGE), ""),
        (lambda: torch.fft.fft(ONES, n=HUGE), ""),
        (lambda: F.interpolate(torch.ones(1, 1, 2), size=HUGE), f"with sizes={[1, 1, HUGE]}"),
        (lambda: F.adaptive_avg_pool1d(torch.ones(1, 1, 2), HUGE), ""),
        (lambda: torch.multinomial(ONES, HUGE, replacement=True), f"with sizes={[HUGE]}"),
    ],
)  # fmt: skip
def test_overflow_of_the_bytes_is_pytorchs_error(call, message):
    start = "Storage size calculation overflowed" if message is not None else "Given output_size"
    with raises_beginning(RuntimeError, f"{start} {message}" if message else start):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.ones(1).expand(HUGE, 4),
        lambda: torch.ones(1).expand(2**60, 2**60, 0),
        lambda: torch.broadcast_to(ONES, (HUGE, 2)),
        lambda: NONE.reshape(HUGE, 4, 0),
        lambda: NONE.view(HUGE, 4, 0),
        lambda: NONE.unflatten(0, (HUGE, 4, 0)),
    ],
)
def test_overflow_of_the_number_of_elements_is_pytorchs_error(call):
    with raises(RuntimeError, "numel: integer multiplication overflow"):
        call()


@pytest.mark.skipif(sys.maxsize < 2**50, reason="there are no such addresses")
@pytest.mark.parametrize(
    "call",
    [
        lambda: ONES.repeat(2**50),
        lambda: torch.ones(1).expand(2**50) + 1,
        lambda: torch.ones(1).expand(2**50).clone(),
        lambda: torch.ones(1).expand(2**50).double(),
        lambda: torch.cat([torch.ones(1).expand(2**50)] * 2),
        lambda: F.pad(ONES, (2**50, 0)),
        lambda: torch.zeros(2**50),
    ],
)
def test_memory_that_is_not_there_is_pytorchs_error(call):
    text = "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate"
    with raises_beginning(RuntimeError, text):
        call()


def test_a_view_without_elements_may_begin_anywhere():
    assert ONES.as_strided((0,), (1,), 2**62).shape == (0,)
