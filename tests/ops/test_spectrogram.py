"""Short-time Fourier transforms and windows against PyTorch 2.13."""

import pytest

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


def test_the_inverse_gives_the_signal_back():
    x = torch.randn(2, 50, dtype=torch.float64)
    for n_fft, hop, width in ((8, 2, 8), (8, 3, 8), (9, 2, 7), (16, 4, 12)):
        window = torch.hann_window(width, dtype=torch.float64) + 0.1
        options = {"hop_length": hop, "win_length": width, "window": window}
        spectra = torch.stft(x, n_fft, return_complex=True, **options)
        n = (spectra.shape[-1] - 1) * hop
        assert_near(torch.istft(spectra, n_fft, **options)[:, :n], x[:, :n])


def test_what_the_signal_lacks_is_zero():
    window = torch.hann_window(4)
    spectra = torch.stft(torch.arange(8.0), 4, window=window, return_complex=True)
    with pytest.warns(UserWarning, match="shorter than the length parameter"):
        y = torch.istft(spectra, 4, window=window, length=12)
    assert y.shape == (12,) and y[-1].item() == 0


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


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("bartlett", [0, 0.4, 0.8, 0.8, 0.4]),
        ("cosine", [0.25881904, 0.70710677, 0.96592581, 0.96592581, 0.70710677]),
        ("hamming", [0.08, 0.39785218, 0.91214782, 0.91214782, 0.39785218]),
        ("kaiser", [5.2773e-05, 0.10171582, 0.79294, 0.79294, 0.10171582]),
        ("nuttall", [3.628e-04, 0.11051548, 0.79825827, 0.79825827, 0.11051548]),
    ],
)
def test_periodic_windows(name, want):
    got = getattr(torch.signal.windows, name)(5, sym=False)
    assert got.tolist() == pytest.approx(want, abs=3e-5)


def test_windows_refuse_what_is_none():
    windows = torch.signal.windows
    with raises(
        ValueError,
        "hann expects float32 or float64 dtypes, got: torch.int32".replace(
            "hann", "general_cosine"
        ),
    ):
        windows.hann(4, dtype=torch.int32)
    with raises(ValueError, "bartlett requires non-negative window length, got M=-1"):
        windows.bartlett(-1)
    with raises(ValueError, "Tau must be positive, got: 0 instead."):
        windows.exponential(5, tau=0)
    with raises(
        RuntimeError, "hann_window requires non-negative window_length, got window_length=-1"
    ):
        torch.hann_window(-1)
    assert windows.hann(1).tolist() == [1] and torch.hann_window(0).shape == (0,)
    assert torch.hann_window(4, requires_grad=True).is_leaf
