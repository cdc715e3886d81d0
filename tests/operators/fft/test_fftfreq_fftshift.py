"""Frequencies and their order."""

import pytest

import tapegrad as torch
from tests.messages import raises

fft = torch.fft


def test_frequencies():
    assert fft.fftfreq(5).tolist() == pytest.approx([0, 0.2, 0.4, -0.4, -0.2])
    assert fft.rfftfreq(4, d=0.5).tolist() == [0, 0.5, 1]
    shifted = fft.fftshift(torch.arange(5))
    assert shifted.tolist() == [3, 4, 0, 1, 2]
    assert fft.ifftshift(shifted).tolist() == [0, 1, 2, 3, 4]
    with raises(RuntimeError, "fftfreq requires a floating point or complex dtype"):
        fft.fftfreq(4, dtype=torch.int64)


@pytest.mark.parametrize("n", [2**62, 2**63 - 1])
def test_more_frequencies_than_can_be_counted_are_refused(n):
    text = "Storage size calculation overflowed with sizes="
    with raises(RuntimeError, f"{text}[{n}]"):
        fft.fftfreq(n)
    with raises(RuntimeError, f"{text}[{n // 2 + 1}]"):
        fft.rfftfreq(n)


@pytest.mark.parametrize("function", [torch.fft.fftfreq, torch.fft.rfftfreq])
def test_out_of_another_size_warns(function):
    out = torch.empty(1)
    with pytest.warns(UserWarning, match="which does not match the computed number of elements"):
        function(5, out=out)
    assert torch.equal(out, function(5))
