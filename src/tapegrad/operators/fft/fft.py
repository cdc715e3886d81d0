"""Fourier transforms along one dimension."""

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Dim, Namespace, Out, Tensor
from tapegrad.core.dtype import complex64, complex128, default, float32, float64
from tapegrad.core.family import family
from tapegrad.core.result_order import as_computed
from tapegrad.core.scalar import int_of
from tapegrad.core.shape import existing_axis
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.op import by_place, linear, vjp
from tapegrad.operators.conversion.to_type import cast
from tapegrad.operators.nn.pad import constant_pad_nd
from tapegrad.operators.pointwise.real_imag_conj_angle import conj
from tapegrad.operators.shape.slice_select_narrow import slice_axis


@vjp(x=lambda xp, g, axes, scale, forward: xp.fourier(g, axes, scale, not forward))
@linear(
    name="fourier",
    node="FftC2CBackward0",
    holomorphic=False,
    kernels=("fourier",),
    order=as_computed,
)
def transform(xp, x, *, axes, scale, forward):
    """The transform of complex numbers along `axes`, or with the other sign of the exponent."""
    return xp.fourier(x, axes, scale, forward)


def _inner(xp: Namespace, spectrum: Any, n: int, axis: int) -> Any:
    """1 at the points of half a spectrum that stand for two of the whole, along `axis`; else 0."""
    k = xp.arange(n // 2 + 1)
    found = xp.astype((k > 0) & (2 * k < n), xp.real(spectrum).dtype)
    return xp.reshape(found, tuple([n // 2 + 1 if i == axis else 1 for i in range(spectrum.ndim)]))


def _from_real_reverse(xp, g, x_like, axes, scale, half):
    """The real part of the inverse: half a spectrum counts its inner points once, not twice."""
    if not half:
        return xp.real(xp.fourier(g, axes, scale, False))
    n = x_like.shape[axes[-1]]
    g = g * (1 - _inner(xp, g, n, axes[-1]) / 2)
    return xp.fourier_real(g, axes, scale, n)


@vjp(x=_from_real_reverse)
@linear(
    name="fourier_from_real",
    node="FftR2CBackward0",
    holomorphic=False,
    kernels=("fourier", "fourier_half", "fourier_real"),
    order=as_computed,
)
def from_real(xp, x, *, axes, scale, half):
    """The transform of real numbers; on demand only the half that the other is conjugate to."""
    return xp.fourier_half(x, axes, scale) if half else xp.fourier(x, axes, scale, True)


def _to_real_reverse(xp, g, axes, scale, size):
    """The transform of the real cotangent: each inner point stands for two."""
    found = xp.fourier_half(g, axes, scale)
    return found * (1 + _inner(xp, found, size, axes[-1]))


@vjp(x=_to_real_reverse)
@linear(
    name="fourier_to_real",
    node="FftC2RBackward0",
    holomorphic=False,
    kernels=("fourier_half", "fourier_real"),
    order=as_computed,
)
def to_real(xp, x, *, axes, scale, size):
    """The inverse transform, real, of half a spectrum; `size` points along the last axis."""
    return xp.fourier_real(x, axes, scale, size)


# --- the kernels of the Tensor namespace -----------------------------------------------------

fourier = tensor_kernel(by_place(transform))
fourier_real = tensor_kernel(by_place(to_real))


@tensor_kernel
def fourier_half(x: Tensor, axes: Any, scale: str) -> Any:
    return from_real(x, axes=tuple(axes), scale=scale, half=True)


# --- arguments -------------------------------------------------------------------------------


def scale_of(norm: Any, forward: bool) -> str:
    """What the sums are divided by under PyTorch's `norm`, which means the pair of transforms."""
    if norm is None or norm == "backward":
        return "none" if forward else "count"
    if norm == "forward":
        return "count" if forward else "none"
    if norm != "ortho":
        text = f'Invalid normalization mode: "{norm}"'
        raise errors.runtime_error(text, 'Choose "backward", "forward" or "ortho".')
    return "root"


def check_arguments(name: str, input: Tensor, norm: Any) -> None:
    """Refuse an input or a norm of another type."""
    errors.need_tensor(f"fft_{name}", "input", 1, input)
    if norm is not None and not isinstance(norm, str):
        raise errors.must_be(f"fft_{name}", "norm", 0, "str", norm)


def require_real(name: str, input: Tensor) -> None:
    """Refuse complex numbers, for which there are other transforms."""
    if input.dtype.is_complex:
        advice = "The transform of complex numbers is fft or fftn."
        raise errors.runtime_error(_not_real(name, input.dtype), advice)


def prepared(input: Tensor, as_complex: bool = False) -> Any:
    """`input` in a floating or complex dtype, on demand a complex one."""
    dtype = input.dtype
    if not (dtype.is_complex or dtype.is_floating_point):
        dtype = default()
    if dtype not in (float32, float64, complex64, complex128):
        text = f"Unsupported dtype {dtype.scalar_name}"
        raise errors.runtime_error(text, "Convert the tensor first: x.float().")
    if as_complex and not dtype.is_complex:
        dtype = complex64 if dtype is float32 else complex128
    return cast(input, dtype)


def _not_real(name: str, dtype: Any) -> str:
    if name in ("rfft", "ihfft"):
        return f"{name} expects a real input tensor, but got {dtype.scalar_name}"
    if name in ("ihfft2", "ihfftn"):
        return f"Only supports floating-point dtypes, but found: {dtype.scalar_name}"
    return f"rfftn expects a real-valued input tensor, but got {dtype.scalar_name}"


def check_out(name: str, out: Out, complex: bool) -> None:
    """Raise if `out=` cannot take complex numbers, or where the result is real, is no float."""
    dtype = None if out is None else getattr(out, "dtype", None)
    if dtype is None or (dtype.is_complex == complex and dtype.category >= 2):
        return
    wanted = "complex" if complex else "floating point"
    name = {"fft2": "fftn", "ifft2": "fftn", "ifftn": "fftn"}.get(name, name.replace("2", "n"))
    text = f"{name} expects a {wanted} output tensor, but got {dtype.scalar_name}"
    raise errors.runtime_error(text, f"Give an out tensor of a {wanted} dtype.")


def _axis(dim: int, ndim: int) -> int:
    return existing_axis(dim, ndim, "A single number has no spectrum.")


def line(name: str, input: Tensor, n: int, dim: Dim) -> tuple[int, int | None]:
    """The axis of a transform in one dimension, and the number of points if it is given."""
    function = f"fft_{name}"
    size = None if n is None else int_of(function, "n", 2, n)
    axis = _axis(dim if type(dim) is int else int_of(function, "dim", 0, dim), input._array.ndim)
    return axis, size


def _ints(function: str, argument: str, given: object) -> tuple[int, ...]:
    """One integer or several."""
    several = given if isinstance(given, (tuple, list)) else (given,)
    if not all(hasattr(n, "__index__") for n in several):
        raise errors.must_be(function, argument, 0, "tuple of ints", given)
    return tuple([int_of(function, argument, 0, n) for n in several])


def grid(name: str, input: Tensor, s: Any, dim: Dim) -> tuple[tuple[int, ...], list[int | None]]:
    """The axes of a transform in several dimensions, and for each its points, if given."""
    function = f"fft_{name}"
    ndim = input._array.ndim
    sizes = None if s is None else _ints(function, "s", s)
    if dim is not None:
        dims = _ints(function, "dim", dim)
        axes = tuple([_axis(each, ndim) for each in dims])
        if len(set(axes)) != len(axes):
            raise errors.runtime_error("FFT dims must be unique", "Name each dimension once.")
        if sizes is not None and len(sizes) != len(axes):
            text = "When given, dim and shape arguments must have the same length"
            raise errors.runtime_error(text, f"dim has {len(axes)} and s has {len(sizes)}.")
    elif sizes is not None:
        if len(sizes) > ndim:
            raise errors.runtime_error(
                f"Got shape with {len(sizes)} values but input tensor only has {ndim} dimensions.",
                "s gives the points of the last dimensions.",
            )
        axes = tuple(range(ndim - len(sizes), ndim))
    else:
        axes = tuple(range(ndim))
    shape = input._array.shape
    given = [None if n == -1 else n for n in sizes or [-1] * len(axes)]
    for axis, n in zip(axes, given, strict=True):
        require_points(shape[axis] if n is None else n)
    return axes, given


def require_axes(name: str, axes: tuple) -> None:
    """Refuse no axes where one of them has to be halved."""
    if not axes:
        text = f"{name.replace('2', 'n')} must transform at least one axis"
        raise errors.runtime_error(text, "Name a dimension.")


def require_points(n: int) -> None:
    if n < 1:
        text = f"Invalid number of data points ({n}) specified"
        raise errors.runtime_error(text, "A transform has one point or more along each dimension.")


def resized(input: Tensor, axes: tuple, sizes: list) -> Any:
    """`input` cut off or filled up with zeros at the end of `axes`, where a size is given."""
    shape = input._array.shape
    padding = [0] * (2 * len(shape))  # of the last axis first, before and after
    for axis, n in zip(axes, sizes, strict=True):
        require_points(shape[axis] if n is None else n)
        if n is not None and n < shape[axis]:
            input = slice_axis(input, axis=axis, start=0, stop=n, step=1)
        elif n is not None:
            padding[2 * (len(shape) - axis) - 1] = n - shape[axis]
    return constant_pad_nd(input, padding) if any(padding) else input


def put(kind: str, result: Tensor, out: Out) -> Any:
    """A result where `out=` says; the `kind` of transform that PyTorch names in errors."""
    if out is None:
        return result
    return finish("_fft_" + (kind if result.dtype.is_complex else "c2r"), result, out)


@family
def _along(name: str, kind: str, compute: Callable, forward: bool) -> Callable:
    """What `compute(x, axis, size, scale, forward)` gives of numbers of a `kind`."""

    def transformed(
        input: Tensor, n: Any = None, dim: int = -1, norm: Any = None, *, out: Out = None
    ) -> Any:
        check_arguments(name, input, norm)
        if kind == "real":
            require_real(name, input)
        check_out(name, out, complex=compute is not _real)
        x = prepared(input, kind == "complex")
        axis, size = line(name, x, n, dim)
        result = compute(x, axis, size, scale_of(norm, forward), forward)
        return put("c2c" if x.dtype.is_complex else "r2c", result, out)

    return transformed


def _complex(x: Tensor, axis: int, size: int | None, scale: str, forward: bool) -> Any:
    x = resized(x, (axis,), [size])
    if x.dtype.is_complex:
        return transform(x, axes=(axis,), scale=scale, forward=forward)
    result = from_real(x, axes=(axis,), scale=scale, half=False)
    return result if forward else conj(result)


def _half(x: Tensor, axis: int, size: int | None, scale: str, forward: bool) -> Any:
    result = from_real(resized(x, (axis,), [size]), axes=(axis,), scale=scale, half=True)
    return result if forward else conj(result)


def _real(x: Tensor, axis: int, size: int | None, scale: str, forward: bool) -> Any:
    half = None if size is None else size // 2 + 1
    size = 2 * (x._array.shape[axis] - 1) if size is None else size
    require_points(size)
    x = resized(x, (axis,), [half])
    return to_real(conj(x) if forward else x, axes=(axis,), scale=scale, size=size)


@autocast
@_along("fft", "", _complex, True)
def fft() -> Any:
    """The discrete Fourier transform along `dim`.

    `y[k] = sum over n of x[n] exp(-2 pi i k n / N)`. The input is cut off or filled up with zeros
    to `n` points first. `norm` divides the sums: by nothing ("backward", the default), by N
    ("forward") or by its root ("ortho").

    Shape: the input's, with `n` (if given) at `dim`.
    Raises: RuntimeError for an `n` below 1.

    >>> torch.fft.fft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """


@autocast
@_along("ifft", "", _complex, False)
def ifft() -> Any:
    """The inverse of `fft`: the other sign of the exponent, and divided by N.

    `x[n] = 1 / N times the sum over k of y[k] exp(2 pi i k n / N)`

    Shape: the input's, with `n` (if given) at `dim`.
    Raises: RuntimeError for an `n` below 1.

    >>> torch.fft.ifft(torch.tensor([10 + 0j, -2 + 2j, -2 + 0j, -2 - 2j]))
    tensor([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j])
    """


@autocast
@_along("rfft", "real", _half, True)
def rfft() -> Any:
    """`fft` of real numbers: the first N // 2 + 1 points, to which the others are conjugate.

    Shape: the input's, with N // 2 + 1 at `dim`, N being `n` or the size.
    Raises: RuntimeError for complex numbers, or an `n` below 1.

    >>> torch.fft.rfft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """


@autocast
@_along("irfft", "complex", _real, False)
def irfft() -> Any:
    """The inverse of `rfft`, real; `n` points, by default twice those given, less two.

    Shape: the input's, with `n`, by default 2 (size - 1), at `dim`.

    >>> torch.fft.irfft(torch.tensor([10 + 0j, -2 + 2j, -2 + 0j]))
    tensor([1., 2., 3., 4.])
    """


@autocast
@_along("hfft", "complex", _real, True)
def hfft() -> Any:
    """`fft` of a signal of which the second half, conjugate to the first, is left away: real.

    Shape: the input's, with `n`, by default 2 (size - 1), at `dim`.

    >>> torch.fft.hfft(torch.tensor([2.5 + 0j, -0.5 - 0.5j, -0.5 + 0j]))
    tensor([1., 2., 3., 4.])
    """


@autocast
@_along("ihfft", "real", _half, False)
def ihfft() -> Any:
    """The inverse of `hfft`: of real numbers, without the half that is conjugate to the rest.

    Shape: the input's, with N // 2 + 1 at `dim`, N being `n` or the size.
    Raises: RuntimeError for complex numbers, or an `n` below 1.

    >>> torch.fft.ihfft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([ 2.5000-0.0000j, -0.5000-0.5000j, -0.5000-0.0000j])
    """
