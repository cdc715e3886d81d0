"""Short-time Fourier transforms against PyTorch 2.13."""

import tapegrad as torch
from tests.messages import raises
from tests.tolerance import assert_near

C64 = torch.complex64


def test_frames_are_centred_and_reflected():
    got = torch.stft(torch.arange(8.0), 4, window=torch.hann_window(4), return_complex=True)
    want = [
        [1, 2, 4, 6, 8, 10, 12, 13, 12],
        [0, -1 + 1j, -2 + 1j, -3 + 1j, -4 + 1j, -5 + 1j, -6 + 1j, -7, -6 - 1j],
        [-1, 0, 0, 0, 0, 0, 0, 1, 0],
    ]
    assert_near(got, torch.tensor(want, dtype=C64))


def test_whole_spectra_of_frames_from_the_start():
    got = torch.stft(
        torch.arange(8.0),
        4,
        hop_length=2,
        window=torch.hann_window(4),
        center=False,
        normalized=True,
        onesided=False,
        return_complex=True,
    )
    want = [
        [2, 4, 6],
        [-1 + 0.5j, -2 + 0.5j, -3 + 0.5j],
        [0, 0, 0],
        [-1 - 0.5j, -2 - 0.5j, -3 - 0.5j],
    ]
    assert_near(got, torch.tensor(want, dtype=C64))


def test_bad_arguments():
    x, w = torch.ones(50), torch.hann_window(8)
    with raises(
        RuntimeError,
        "stft requires the return_complex parameter be given for real inputs, and will further "
        "require that return_complex=True in a future PyTorch release.",
    ):
        torch.stft(x, 8, window=w)
    with raises(RuntimeError, "Cannot have onesided output if window or input is complex"):
        torch.stft(x.to(C64), 8, window=w, onesided=True)
    with raises(
        RuntimeError,
        "stft(torch.FloatTensor[50], n_fft=80, hop_length=20, win_length=80, "
        "window=torch.FloatTensor{[8]}, normalized=0, onesided=None, return_complex=1, "
        "align_to_window=None) : expected 0 < n_fft < 50, but got n_fft=80",
    ):
        torch.stft(x, 80, window=w, center=False, return_complex=True)
    with raises(
        RuntimeError,
        "istft(CPUComplexFloatType[4, 26], n_fft=8, hop_length=2, win_length=8, "
        "window=torch.FloatTensor{[8]}, center=1, normalized=0, onesided=None, length=None, "
        "return_complex=0) : expected the frequency dimension (3rd to the last) of the input "
        "tensor to match n_fft / 2 + 1 when onesided=True, but got 4",
    ):
        torch.istft(torch.ones(4, 26, dtype=C64), 8, window=w)
