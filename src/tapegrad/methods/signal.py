"""Methods for signals: spectra of frames."""

from tapegrad.later import method


class SignalMethods:
    """Short-time Fourier transforms."""

    __slots__ = ()

    stft = method("tapegrad.ops.spectrogram", "stft")
    istft = method("tapegrad.ops.resynthesis", "istft")
