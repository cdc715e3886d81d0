"""The inverse of the short-time Fourier transform.

The frames are transformed back, weighed with the window again, added up where they came from, and
divided by the sum of the squared windows there (Griffin and Lim, "Signal estimation from modified
short-time Fourier transform", 1984, equation 6).
"""

from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors, users_level
from tapegrad.core.shape import out_of_range
from tapegrad.operators.creation.zeros_eye import ones
from tapegrad.operators.fft.fft import to_real, transform
from tapegrad.operators.fft.stft import check, described, full_window, no_half, warn_of_no_window
from tapegrad.operators.nn.pad import constant_pad_nd
from tapegrad.operators.shape.as_strided import sum_windows
from tapegrad.operators.shape.permute_transpose_movedim_swapaxes import transpose
from tapegrad.operators.shape.squeeze_unsqueeze import unsqueeze

__torch__ = "istft"


@require_tensors
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """The signal of which `stft` gave these spectra; in the least squares, where there is none.

    Shape: (frequencies, frames) to (L,), in batches (B, L).

    Args:
        input: (frequencies, frames) or (B, frequencies, frames), complex.
        length: of the signal; where `stft` left some of its end away, zeros follow.
        return_complex: the signal is complex, too.

    Raises: RuntimeError for real numbers, or where no window has weight.

    >>> x, w = torch.arange(32.0), torch.hann_window(8)
    >>> y = torch.istft(torch.stft(x, 8, window=w, return_complex=True), 8, window=w)
    >>> torch.allclose(y, x, atol=1e-5)
    True
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if window is None:
        warn_of_no_window(
            "istft", ".Please provide the same window used by stft to make the inversion lossless."
        )
    arguments = {"n_fft": n_fft, "hop_length": hop, "win_length": width, "window": window}
    arguments |= {"center": center, "normalized": normalized, "onesided": onesided}
    arguments |= {"length": length, "return_complex": return_complex}
    call = described(f"istft(CPU{input.dtype.scalar_name}Type{list(input._array.shape)}", arguments)
    if not input.dtype.is_complex:
        raise errors.runtime_error(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True.",
            "torch.view_as_complex makes complex numbers of pairs.",
        )
    half = _check_istft(input, arguments, call)
    single = input.ndim == 2
    x = transpose(unsqueeze(input, 0) if single else input, 1, 2)  # (B, T, F)
    frames = _frames(x, n_fft, half, bool(return_complex), "root" if normalized else "count")
    weights = full_window(window, n_fft, width, frames.dtype)
    if weights is None:
        weights = ones(n_fft, dtype=frames.dtype)
    signal, squares = _overlapped(frames, weights, n_fft, hop)
    start, whole = (n_fft // 2 if center else 0), signal._array.shape[1]
    end = start + length if length is not None else whole - start
    signal, squares = signal[:, start:end], squares[:, start:end]
    if squares._array.size and abs(elements(squares._array)).min() <= 1e-11:
        advice = "Somewhere no window has any weight: choose a smaller hop_length, or center=True."
        raise errors.runtime_error(f"{call} window overlap add min: 1\n[ CPUBoolType{{}} ]", advice)
    signal = signal / squares
    if end > whole:
        errors.warn(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings.",
            users_level(),
        )
        signal = constant_pad_nd(signal, (0, end - whole))
    return signal.squeeze(0) if single else signal


def _frames(x: Any, n_fft: int, half: bool, as_complex: bool, scale: str) -> Any:
    """The stretches of signal behind spectra (B, T, F)."""
    if as_complex:
        return transform(x, axes=(2,), scale=scale, forward=False)
    x = x if half else x[:, :, : n_fft // 2 + 1]
    return to_real(x, axes=(2,), scale=scale, size=n_fft)


def _overlapped(frames: Any, weights: Tensor, n_fft: int, hop: int) -> tuple:
    """The weighed frames added up where they belong, and what the windows' squares add up to."""
    n_frames = frames._array.shape[1]
    size = n_fft + hop * (n_frames - 1)

    def added(x: Tensor) -> Any:
        return sum_windows(x, shape=(x._array.shape[0], size), axis=1, size=n_fft, step=hop)

    squares = (weights * weights).expand(1, n_frames, n_fft)
    return added(frames * weights), added(squares)


def _check_istft(x: Tensor, arguments: dict, call: str) -> bool:
    """Raise for what cannot be inverted; whether the spectra are halves."""
    n_fft, window = arguments["n_fft"], arguments["window"]
    shape = x._array.shape
    if x.ndim < 3 and x.ndim != 2:
        advice = "Pass spectra of shape (frequencies, frames) or (B, frequencies, frames)."
        raise out_of_range(-3, x.ndim + 1, advice)
    half = shape[-2] != n_fft if arguments["onesided"] is None else bool(arguments["onesided"])
    wanted = n_fft // 2 + 1 if half else n_fft
    problem = ""
    if not x._array.size:
        problem = "input tensor cannot be empty."
    elif x.ndim > 3:
        problem = f"expected a tensor with 3 or 4 dimensions, but got {x.ndim + 1}"
    elif shape[-2] != wanted:
        size = "n_fft / 2 + 1" if half else "n_fft"
        problem = (
            "expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{size} when onesided={half}, but got {shape[-2]}"
        )
    elif not 0 < arguments["hop_length"] <= arguments["win_length"]:
        problem = "expected 0 < hop_length <= win_length"
    elif not 0 < arguments["win_length"] <= n_fft:
        problem = "expected 0 < win_length <= n_fft"
    elif window is not None and window._array.shape != (arguments["win_length"],):
        problem = "Invalid window shape. window has to be 1D and length of `win_length`"
    check(problem, call, "Pass what stft was given.")
    if arguments["return_complex"]:
        if half:
            raise no_half()
    elif window is not None and window.dtype.is_complex:
        text = "Complex windows are incompatible with return_complex=False"
        raise errors.runtime_error(text, "Pass return_complex=True.")
    return half
