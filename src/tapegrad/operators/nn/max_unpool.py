"""Max unpooling: elements back at the places where max pooling found them, zeros elsewhere."""

from math import prod

from tapegrad.arrays.namespaces import elements
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Sequence, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import int64
from tapegrad.core.family import family
from tapegrad.core.result_order import channels_as_first
from tapegrad.dispatch.autocast_state import IN_USE, autocast, widened
from tapegrad.dispatch.op import linear
from tapegrad.operators.dtype_check import require_floating
from tapegrad.operators.nn.pool_size import array_of, check_each, is_default
from tapegrad.operators.shape.squeeze_unsqueeze import squeeze, unsqueeze


def _unpooling(name: str, node: str) -> Any:
    @linear(
        name=name,
        node=node,
        hidden=("indices",),
        kernels=("put_places", "take_places"),
        order=channels_as_first,
    )
    def unpooled(xp, x, indices, *, sizes):
        """Images of `sizes`: zeros, and the elements of x at the places `indices`."""
        return xp.put_places(x, indices, sizes, False)

    unpooled.vjp(x=lambda xp, g, indices, sizes: xp.take_places(g, indices, len(sizes)))
    return unpooled


unpool_plane = _unpooling("max_unpool2d", "MaxUnpool2DBackward0")
unpool_volume = _unpooling("max_unpool3d", "MaxUnpool3DBackward0")


def _of_each(value: Any, n: int) -> Sequence[int]:
    return (value,) * n if isinstance(value, int) else value


def _output_size(
    shape: tuple[int, ...], kernel: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[int, ...]:
    """The size before pooling: the smallest that fits, or the one that is said, if it fits."""
    n = len(kernel)
    spatial = shape[-n:]
    default = [(spatial[d] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in range(n)]
    for d, size in enumerate(default):
        if output_size is None and size < 0:
            raise errors.value_error(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{d}]={size}",
                "Pass the padding of the pooling.",
            )
    if output_size is None:
        return tuple(default)
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise errors.value_error(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has "
            f"a length of '{len(output_size)}'",
            "Give the size of the tensor that was pooled.",
        )
    for d in range(n):
        least, most = default[d] - stride[d], default[d] + stride[d]
        if not least < output_size[d] < most:
            raise errors.value_error(
                f'invalid output_size "{output_size}" (dim {d} must be between {least} and {most})',
                "Give the size of the tensor that was pooled.",
            )
    return tuple(output_size)


def _check_lengths(sizes: tuple[int, ...], steps: Any, n: int) -> None:
    names = "two elements (height, width)" if n == 2 else "three elements (depth, height, width)"
    for what, numbers in (("output_size, but got", sizes), ("stride, but got:", steps)):
        if numbers is not None and len(numbers) != n:
            raise errors.runtime_error(
                f"There should be exactly {names} in {what} {len(numbers)} elements.",
                f"kernel_size and stride are one number, or {n}.",
            )


def _check(
    input: Tensor, indices: Tensor, sizes: tuple[int, ...], n: int, steps: Any = None
) -> None:
    array, where = array_of(f"max_unpool{n}d", input), indices._array
    if indices.dtype is not int64:
        given = f" but got: {indices.dtype.scalar_name}" if n == 2 else ""
        advice = "Pass the indices that max_pool gives with return_indices=True."
        raise errors.runtime_error(f"elements in indices should be type int64{given}", advice)
    if n == 2:
        _check_lengths(sizes, steps, n)
    if array.ndim not in (n + 1, n + 2):
        raise errors.runtime_error(
            f"Input to max_unpooling{n}d should be a {n + 1}d or {n + 2}d Tensor, but got a "
            f"tensor with {array.ndim} dimensions.",
            "Inputs are (N, C, ...) or (C, ...).",
        )
    if n == 3:
        _check_lengths(sizes, steps, n)
    if steps and min(steps) <= 0:
        text = f"strides should be greater than zero, but got stride: {list(steps)}"
        raise errors.runtime_error(text, "Pass the stride of the pooling.")
    if array.shape != where.shape:
        raise errors.runtime_error(
            "Expected shape of indices to be same as that of the input tensor "
            f"({list(array.shape)}) but got indices tensor with shape: {list(where.shape)}",
            "There is a place for each element.",
        )
    words = f"got {list(array.shape)} with dimension {{}} being empty."
    check_each(f"max_unpooling{n}d_forward_out_cpu", array.shape, 1, words)
    require_floating(f"max_unpool{n}d", input)
    room = prod(sizes)
    where = elements(where)
    if room and where.size and (where.min() < 0 or where.max() >= room):
        flat = where.reshape(-1)
        wrong = int(flat[(flat < 0) | (flat >= room)][-1])
        raise errors.runtime_error(
            f"Found an invalid max index: {wrong} (output volumes are of size "
            f"{'x'.join(map(str, sizes))})",
            "Give output_size, the size of the tensor that was pooled.",
        )


@family
def _unpooled(n: int) -> Callable:
    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Any:
        kernel = _of_each(kernel_size, n)
        steps = kernel if is_default(stride) else _of_each(stride, n)
        pads = _of_each(padding, n)
        shape = array_of(f"max_unpool{n}d", input).shape
        sizes = _output_size(shape, kernel, steps, pads, output_size)
        _check(input, indices, sizes, n, steps if n == 3 else None)
        return (unpool_plane if n == 2 else unpool_volume)(input, indices, sizes=sizes)

    return max_unpool


@require_tensors
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """The inverse of `max_pool1d` as far as there is one: elements at `indices`, else zeros.

    Shapes: (N, C, L) or (C, L), indices alike; L becomes (L - 1) stride - 2 padding + kernel_size.

    >>> x = torch.tensor([[1.0, 3.0, 2.0, 4.0]])
    >>> y, indices = torch.nn.functional.max_pool1d(x, 2, return_indices=True)
    >>> torch.nn.functional.max_unpool1d(y, indices, 2)
    tensor([[0., 3., 0., 4.]])
    """
    kernel = _of_each(kernel_size, 1)
    steps = kernel if is_default(stride) else _of_each(stride, 1)
    pads = _of_each(padding, 1)
    shape = array_of("max_unpool1d", input).shape
    sizes = (*_output_size(shape, kernel, steps, pads, output_size), 1)
    if IN_USE:
        (input,) = widened(input)
    input, indices = unsqueeze(input, -1), unsqueeze(indices, -1)
    _check(input, indices, sizes, 2)
    return squeeze(unpool_plane(input, indices, sizes=sizes), -1)


@autocast
@_unpooled(2)
def max_unpool2d() -> Any:
    """The inverse of `max_pool2d` as far as there is one: elements at `indices`, else zeros.

    The result has the smallest size that pools to the input's, or `output_size`.

    Shapes: (N, C, H, W) or (C, H, W), indices alike; each size as in `max_unpool1d`.

    >>> x = torch.tensor([[[1.0, 3.0], [2.0, 4.0]]])
    >>> y, indices = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    >>> torch.nn.functional.max_unpool2d(y, indices, 2)
    tensor([[[0., 0.],
             [0., 4.]]])
    """


@autocast
@_unpooled(3)
def max_unpool3d() -> Any:
    """The inverse of `max_pool3d` as far as there is one: elements at `indices`, else zeros.

    Shapes: (N, C, D, H, W) or (C, D, H, W), indices alike; each size as in `max_unpool1d`.
    Raises: RuntimeError for a stride that is not positive.

    >>> y, indices = torch.ones(1, 1, 1, 1), torch.tensor([[[[3]]]])
    >>> torch.nn.functional.max_unpool3d(y, indices, (1, 2, 2))
    tensor([[[[0., 0.],
              [0., 1.]]]])
    """
