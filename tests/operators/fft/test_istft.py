"""The inverse of the short-time Fourier transform."""

import pytest

import tapegrad as torch
from tests.tolerance import assert_near


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
