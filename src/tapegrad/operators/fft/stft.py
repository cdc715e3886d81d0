"""The short-time Fourier transform: spectra of overlapping frames of a signal.

X[k, t] = sum over n of w[n] x[n + t hop] exp(-2 pi i k n / n_fft)
"""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DTypeLike, Tensor
from tapegrad.core.warn_once import warn_once
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.operators.creation.zeros_eye import ones
from tapegrad.operators.fft.fft import from_real, transform
from tapegrad.operators.nn.pad import constant_pad_nd, pad
from tapegrad.operators.shape.as_strided import view_as_real, windows
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import transpose
from tapegrad.operators.shape.squeeze_unsqueeze import unsqueeze

__torch__ = "stft"


def warn_of_no_window(name: str, text: str) -> None:
    warn_once(
        f"A window was not provided. A rectangular window will be applied{text}To suppress this "
        "warning and use a rectangular window, explicitly set "
        "`window=torch.ones(n_fft, device=<device>)`.",
        together=name,
    )


def _shown(value: Any) -> str:
    """An argument as PyTorch's messages show it."""
    if value is None:
        return "None"
    if hasattr(value, "_array"):
        return f"{errors.tensor_type(value.dtype)}{{{list(value._array.shape)}}}"
    return str(int(value))


def described(head: str, arguments: dict) -> str:
    return f"{head}, {', '.join(f'{n}={_shown(x)}' for n, x in arguments.items())})"


def check(problem: str, call: str, advice: str) -> None:
    if problem:
        raise errors.runtime_error(f"{call} : {problem}", advice)


def full_window(window: Any, n_fft: int, win_length: int, dtype: DTypeLike) -> Any:
    """The window, rectangular if none is given, with zeros to both sides up to `n_fft`."""
    if win_length == n_fft:
        return window
    left = (n_fft - win_length) // 2
    if window is None:
        window = ones(win_length, dtype=dtype)
    return constant_pad_nd(window, (left, n_fft - win_length - left))


@autocast
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """The short-time Fourier transform: the spectrum of each frame of a signal.

    Frames are `n_fft` long and `hop_length` (`n_fft // 4`) apart, multiplied with the `window`
    of `win_length` (`n_fft`) points.

    Args:
        input: (L,) or (B, L), real or complex.
        center: frame t has its middle at `t * hop_length`; the signal is padded by `pad_mode`.
        normalized: divide by the root of `n_fft`.
        onesided: the first n_fft // 2 + 1 frequencies, all that a real signal needs.
        return_complex: without it pairs (real part, imaginary part) along a last dimension.
        align_to_window: with `center=False`, the first window, not frame, begins at the start.

    Returns:
        (frequencies, frames) or (B, frequencies, frames), complex.

    Raises: RuntimeError for `align_to_window` together with `center`.

    >>> x = torch.ones(32)
    >>> torch.stft(x, 8, window=torch.hann_window(8), return_complex=True).shape
    torch.Size([5, 17])
    """
    if not isinstance(normalized, bool):
        raise errors.must_be("stft", "normalized", 8, "bool", normalized)
    if window is None:
        warn_of_no_window(
            "stft",
            ",which is known to cause spectral leakage. Other windows such as torch.hann_window or "
            "torch.hamming_window are recommended to reduce spectral leakage.",
        )
    if align_to_window is not None and center:
        text = "stft align_to_window should only be set when center = false"
        raise errors.runtime_error(text, "Pass center=False, too.")
    if center:
        input = _padded(input, n_fft // 2, pad_mode)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    arguments = {"n_fft": n_fft, "hop_length": hop, "win_length": width, "window": window}
    arguments |= {"normalized": normalized, "onesided": onesided}
    arguments |= {"return_complex": return_complex, "align_to_window": align_to_window}
    as_complex = _answer_is_complex(return_complex, is_complex)
    _check_stft(input, arguments)
    half = not is_complex if onesided is None else bool(onesided)
    if half and is_complex:
        raise no_half()
    if input.dtype.itemsize == 2:
        text = f"MKL FFT doesn't support tensors of type: {input.dtype.scalar_name}"
        raise errors.runtime_error(text, "Convert the signal and the window first: .float().")
    single = input.ndim == 1
    x = unsqueeze(input, 0) if single else input
    weights = full_window(window, n_fft, width, input.dtype)
    if align_to_window:
        x = _padded(x, (n_fft - width) // 2, "constant")
    frames = windows(x, axis=1, size=n_fft, step=hop)  # (B, T, n_fft)
    if weights is not None:
        frames = frames * weights
    scale = "root" if normalized else "none"
    if is_complex:
        spectra = transform(frames, axes=(2,), scale=scale, forward=True)
    else:
        spectra = from_real(frames, axes=(2,), scale=scale, half=half)
    spectra = transpose(spectra, 1, 2)  # (B, F, T)
    if single:
        spectra = spectra.squeeze(0)
    return spectra if as_complex else view_as_real(spectra)


def _answer_is_complex(return_complex: bool | None, is_complex: bool) -> bool:
    if return_complex is None and not is_complex:
        raise errors.runtime_error(
            "stft requires the return_complex parameter be given for real inputs, and will "
            "further require that return_complex=True in a future PyTorch release.",
            "Pass return_complex=True.",
        )
    if return_complex is False and not is_complex:
        errors.warn(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
            "return complex tensors for all inputs, and return_complex=False will raise an error."
            "\nNote: you can still call torch.view_as_real on the complex output to recover the "
            "old return format.",
            3,
        )
    return return_complex is None or bool(return_complex)


def no_half() -> RuntimeError:
    advice = "Pass onesided=False: both halves of the spectrum are needed."
    return errors.runtime_error("Cannot have onesided output if window or input is complex", advice)


def _padded(x: Tensor, n: int, mode: str) -> Any:
    """`n` more elements at both ends of the last dimension."""
    shape = tuple(x.shape)
    several = x.reshape((1,) * (3 - len(shape)) + shape)
    padded = pad(several, (n, n), mode)
    return padded.reshape(padded.shape[3 - len(shape) :]) if len(shape) < 3 else padded


def _check_stft(x: Tensor, arguments: dict) -> None:
    head = f"stft({errors.tensor_type(x.dtype)}{list(x._array.shape)}"
    call = described(head, arguments)
    length = x._array.shape[-1] if x.ndim else 1
    n_fft, hop, width = (arguments[name] for name in ("n_fft", "hop_length", "win_length"))
    window = arguments["window"]
    problem = ""
    if x.dtype.category < 2:
        problem = "expected a tensor of floating point or complex values"
    elif x.ndim not in (1, 2):
        problem = "expected a 1D or 2D tensor"
    elif not 0 < n_fft <= length:
        problem = f"expected 0 < n_fft < {length}, but got n_fft={n_fft}"
    elif hop <= 0:
        problem = f"expected hop_length > 0, but got hop_length={hop}"
    elif not 0 < width <= n_fft:
        problem = f"expected 0 < win_length <= n_fft, but got win_length={width}"
    elif window is not None and window._array.shape != (width,):
        problem = (
            f"expected a 1D window tensor of size equal to win_length={width}, but got window with "
            f"size {list(window._array.shape)}"
        )
    check(problem, call, "A frame is no longer than the signal, a window no longer than a frame.")
