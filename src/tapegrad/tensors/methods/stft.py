"""Methods for signals: spectra of frames."""

from tapegrad.core.lazy import method


class SignalMethods:
    """Short-time Fourier transforms."""

    __slots__ = ()

    stft = method("tapegrad.operators.fft.stft", "stft")
    istft = method("tapegrad.operators.fft.istft", "istft")
