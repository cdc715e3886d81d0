"""Fractional max pooling: windows of one size whose starts are drawn at random.

Source: Graham, "Fractional Max-Pooling", 2014, section 2.
"""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DTypeLike, Tensor
from tapegrad.core.dtype import float32, of
from tapegrad.core.shape import out_of_range
from tapegrad.dispatch.autocast_state import IN_USE, widened
from tapegrad.dispatch.backward_op import one_node
from tapegrad.dispatch.op import primitive
from tapegrad.operators.dtype_check import require_floating
from tapegrad.operators.nn.pool_size import array_of, check_each
from tapegrad.operators.random.rand_randint_randperm import rand

_KERNELS = ("shifted_maximum", "take_places", "put_places")


def _choosing(name: str, node: str) -> Any:
    @primitive(
        name=name,
        node=node,
        outputs=("values", "indices"),
        nondiff=("indices",),
        hidden=("samples",),
        kernels=_KERNELS,
    )
    def maximum(xp, x, samples, *, kernel, sizes):
        """The largest elements of windows of `kernel` elements, `sizes` of them, and their places.

        x (N, C, *space) or (C, *space); samples (N, C, axes), uniform numbers that place windows.
        """
        return xp.shifted_maximum(x, samples, kernel, sizes)

    maximum.vjp(
        x=lambda xp, g, x_like, indices, kernel: xp.put_places(
            g, indices, x_like.shape[-len(kernel) :], True
        )
    )
    maximum.jvp(x=lambda xp, t, indices, kernel: xp.take_places(t, indices, len(kernel)))
    return one_node(node.replace("Backward", "BackwardBackward"))(maximum)


fraction_plane = _choosing("fractional_max_pool2d", "FractionalMaxPool2DBackward0")
fraction_volume = _choosing("fractional_max_pool3d", "FractionalMaxPool3DBackward0")


def _pair(name: str, argument: str, value: Any, n: int) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * n
    found = tuple(value)
    if len(found) != n:
        three = "three " if n == 3 else ""
        text = f"{name}: {argument} must either be a single Int or tuple of {three}Ints"
        advice = "Pass one number for all dimensions, or a number for each."
        raise errors.runtime_error(text, advice)
    return found


def _check(name: str, shape: tuple[int, ...], kernel: Any, sizes: Any, n: int) -> None:
    title = f"{name}_out" if n == 3 else name
    if len(shape) not in (n + 1, n + 2):
        text = f"{title}(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(shape)}"
        raise errors.runtime_error(text, "Inputs are (N, C, ...) or (C, ...).")
    words = f"got{list(shape)} with dimension {{}} being empty."
    check_each(title, shape, len(shape) - n - 1, words)
    order = (("height", 0), ("width", 1)) if n == 2 else (("time", 0), ("width", 2), ("height", 1))
    for word, axis in order:
        size, k, m = shape[axis - n], kernel[axis], sizes[axis]
        if m + k - 1 > (size if n == 2 else size - 1):  # in three dimensions PyTorch wants one more
            raise errors.runtime_error(
                f"{title}(): pool {word} {k} too large relative to input {word} {size}",
                "The windows' starts have to differ: output + kernel - 1 may be the input at most.",
            )


def _check_samples(samples: Any, dtype: DTypeLike, shape: tuple[int, ...], n: int) -> None:
    problem = None
    have = samples._array.shape
    if samples.dtype is not dtype:
        problem = "Expect _random_samples to have the same dtype as input"
    elif len(have) != 3:
        problem = f"Expect _random_samples to have 3 dimensions, got {len(have)}"
    elif have[0] < shape[0]:
        problem = "Expect _random_samples.size(0) no less then input batch size."
    elif have[1] != shape[1]:
        problem = "Expect _random_samples.size(1) equals to input channel size."
    elif have[2] != n:
        problem = f"Expect _random_samples.size(2) equals to {n}; got {have[2]}."
    if problem:
        raise errors.runtime_error(problem, f"Samples are (N, C, {n}).")


def pooled(
    n: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any
) -> tuple[Any, Any]:
    """Fractional max pooling of the last `n` dimensions, checked: (values, places)."""
    name = f"fractional_max_pool{n}d"
    shape = array_of(name, input).shape
    if IN_USE:
        input, samples = widened(input, samples)
    if output_size is None and output_ratio is None:
        text = f"{name} requires specifying either an output_size or an output_ratio"
        raise errors.value_error(text, "Pass one of the two.")
    if output_size is None:
        ratio = (output_ratio,) * n if isinstance(output_ratio, (int, float)) else output_ratio
        if len(ratio) != n:
            text = f"{name} requires output_ratio to either be a single Int or tuple of Ints."
            raise errors.value_error(text, "Pass one ratio for all dimensions, or one for each.")
        output_size = tuple(int(s * r) for s, r in zip(shape[-n:], ratio, strict=True))
    if len(shape) < n + 1:
        raise out_of_range(-n - 1, len(shape), "Inputs are (N, C, ...) or (C, ...).")
    dtype = of(input._array.dtype)
    if samples is None:
        require_floating("check_uniform_bounds", input)
        samples = rand(1 if len(shape) == n + 1 else shape[0], shape[-n - 1], n, dtype=dtype)
    kernel = _pair(name, "kernel_size", kernel_size, n)
    sizes = _pair(name, "output_size", output_size, n)
    _check(name, shape, kernel, sizes, n)
    n_batch = 1 if len(shape) == n + 1 else shape[0]
    _check_samples(samples, dtype, (n_batch, shape[-n - 1]), n)
    if min(kernel) < 1:
        text = f"{name}: a kernel_size of {min(kernel)}"
        raise errors.not_implemented(text, "Windows have one element at least.")
    samples = samples.detach()[:n_batch]
    if dtype.itemsize == 2:
        samples = samples.to(float32)
    operator = fraction_plane if n == 2 else fraction_volume
    return operator(input, samples, kernel=kernel, sizes=sizes)
