"""torch.fft: discrete Fourier transforms, their frequencies and shifts."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.operators.fft.fft import fft, hfft, ifft, ihfft, irfft, rfft
from tapegrad.operators.fft.fftfreq_fftshift import fftfreq, fftshift, ifftshift, rfftfreq
from tapegrad.operators.fft.fftn import (
    fft2,
    fftn,
    hfft2,
    hfftn,
    ifft2,
    ifftn,
    ihfft2,
    ihfftn,
    irfft2,
    irfftn,
    rfft2,
    rfftn,
)

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftfreq", "rfftn",
]  # fmt: skip

__getattr__ = _refuses(__name__)
