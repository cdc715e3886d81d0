"""New tensors of random numbers: `rand`, `randn`, `randint`, `randperm`."""

from collections.abc import Callable

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, LayoutLike, Out, Shape, Source
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import default, int64
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.family import family
from tapegrad.core.registration import RANDOMNESS
from tapegrad.core.storage import grown_like
from tapegrad.core.streams import exponential_cauchy, integer, normal
from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.torch_function import IN_USE, handed_to_argument, handed_to_mode
from tapegrad.operators.creation.factory_options import build, check, check_out, known, requiring
from tapegrad.operators.random import argument as randint_bounds
from tapegrad.operators.random.argument import int_of, is_integer, mismatch, size_of, stream_of
from tapegrad.operators.random.fill import fill_out, level_mode
from tapegrad.operators.random.normal_uniform import check_normal, check_uniform

__all__ = ["rand", "randint", "randn", "randperm"]


def make(
    function: str,
    dtype: Dtype,
    shape: tuple,
    out: Out,
    requires_grad: bool,
    where: Any,
    draw: Callable,
    stream: Twister,
    *params: Any,
) -> Any:
    """A tensor of what `draw(stream, shape, dtype, *params)` gives, or `out` filled with it."""
    if requires_grad is True and not (dtype.is_floating_point or dtype.is_complex):
        raise errors.float_required(dtype)
    if out is None:
        inside = level_mode()
        if inside is not None:

            def again(whole: tuple) -> Any:
                return make(function, dtype, whole, None, False, where, draw, stream, *params)

            found = RANDOMNESS().made(inside.level, again, shape, draw is not integer.permuted)
            return found if requires_grad is False else requiring(function, found, requires_grad)
        args = (stream, shape, dtype.numpy, *params)
        return build(function, draw, *args, requires_grad=requires_grad, where=where)
    if out._array.shape != shape:
        out._array = grown_like(out._array, shape, None, out.storage_offset())
        out._signature = None
    fill_out(function, out, draw, stream, *params)
    return out if requires_grad is False else requiring(function, out, requires_grad)


def dtype_for(
    function: str,
    dtype: DTypeLike,
    fallback: Dtype,
    layout: LayoutLike,
    device: DeviceLike,
    pin_memory: bool,
    out: Out,
    like: Any = None,
) -> tuple[Dtype, Any]:
    """The dtype of a tensor to be made, and what `check` says of its device.

    Raises for what it cannot be, `requires_grad` aside.
    """
    where = check(layout, device, pin_memory, like)
    if out is None:
        return fallback if dtype is None else known(function, dtype), where
    check_out(function, out, dtype)
    return out.dtype, None


@family
def _drawing(name: str, check: Callable, draw: Callable, *params: float) -> Callable:
    def drawn(
        *args: object,
        size: Shape | None = None,
        generator: Source = None,
        out: Out = None,
        dtype: DTypeLike = None,
        layout: LayoutLike = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Any:
        if IN_USE and (again := handed_to_mode(drawn, args, locals())):
            return again()
        try:
            shape, stream = size_of(name, args, size), stream_of(name, generator)
            kind, where = dtype_for(name, dtype, default(), layout, device, pin_memory, out)
        except TypeError:
            again = handed_to_argument(drawn, args, locals())
            if again is None:
                raise
            return again()
        check(kind)
        return make(name, kind, shape, out, requires_grad, where, draw, stream, *params)

    return drawn


@_drawing("rand", check_uniform, exponential_cauchy.uniform)
def rand() -> Any:
    """A tensor of numbers spread evenly over [0, 1).

    Shape: the sizes that are given.

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2, 3)
    tensor([[0.4963, 0.7682, 0.0885],
            [0.1320, 0.3074, 0.6341]])
    """


@_drawing("randn", lambda dtype: check_normal(dtype, 1.0, 1), normal.normal, 0.0, 1.0)
def randn() -> Any:
    """A tensor of normal numbers of mean 0 and variance 1.

    Shape: the sizes that are given.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn(2, 3)
    tensor([[ 1.5410, -0.2934, -2.1788],
            [ 0.5684, -1.0845, -1.3986]])
    """


@require_tensors
def randint(
    low: Any = None,
    high: Any = None,
    size: Shape | None = None,
    *,
    generator: Source = None,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of integers from `low` to `high` - 1: `randint(low=0, high, size)`.

    Shape: `size`.
    Raises: RuntimeError where `low` is not below `high`.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint(3, 10, (4,))
    tensor([7, 6, 3, 5])
    """
    given = tuple(x for x in (low, high, size) if x is not None)
    position = 3
    if size is None and high is not None:
        low, high, size, position = None, low, high, 2
    elif high is None:
        low, high = None, low
    low = 0 if low is None else low
    if not is_integer(low) or not is_integer(high) or size is None:
        raise mismatch("randint", given, {}, _RANDINT)
    shape, stream = size_of("randint", (), size, position), stream_of("randint", generator)
    low, high = randint_bounds.integer(low), randint_bounds.integer(high)
    dtype, where = dtype_for("randint", dtype, int64, layout, device, pin_memory, out)
    span = randint_bounds.span(dtype, low, high)
    return make("randint", dtype, shape, out, requires_grad, where, integer.integers, stream, *span)


_RANDINT = "randint(high, size) or randint(low, high, size); the bounds are ints, size is a tuple."


@require_tensors
def randperm(
    n: Any,
    *,
    generator: Source = None,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """The integers 0 to `n` - 1 in random order.

    Shape: (n,).

    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([0, 1, 3, 2])
    """
    if not is_integer(n):
        text = f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}"
        raise errors.type_error(text, "Pass how many integers there shall be.")
    (n,), stream = size_of("randperm", (int_of(n),), None), stream_of("randperm", generator)
    dtype, where = dtype_for("randperm", dtype, int64, layout, device, pin_memory, out)
    randint_bounds.check_permutation(dtype, n)
    return make("randperm", dtype, (n,), out, requires_grad, where, integer.permuted, stream)
