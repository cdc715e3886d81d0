"""Sizes of pooling: what the functions accept, what they refuse, and the windows that follow."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Shape, Tensor
from tapegrad.core.shape import ints_of

_COUNTS = {2: "two", 3: "three"}
_LETTERS = {2: ("H", "W"), 3: ("T", "H", "W")}
_ADVICE = "Windows must fit into the padded input; sizes and strides are whole numbers above 0."


def array_of(name: str, input: Tensor) -> Any:
    """The array of what has to be a tensor."""
    errors.need_tensor(name, "input", 1, input)
    return input._array


def check_rank(name: str, input: Tensor) -> None:
    """Raise for what a function of one dimension does not take."""
    ndim = array_of(name, input).ndim
    if ndim not in (2, 3):
        raise errors.runtime_error(
            f"Expected 2 to 3 dimensions, but got {ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})",
            "Inputs are (N, C, L) or (C, L).",
        )


def one_int(name: str, argument: str, value: Any, position: int = 2) -> int:
    """A size given as a number or as a sequence of one."""
    found = ints_of(name, argument, (value,), position)
    if len(found) != 1:
        text = f"{name}() argument '{argument}' should contain one int (got {len(found)})"
        raise errors.runtime_error(text, "Pass one number: there is one dimension to pool.")
    return found[0]


def some_ints(
    name: str, argument: str, value: Any, n: int, text: str, position: int = 2
) -> tuple[int, ...]:
    """A size for each of `n` dimensions, given as one number or as `n` of them."""
    if type(value) is int:
        return (value,) * n
    found = ints_of(name, argument, (value,), position)
    if len(found) == 1:
        return found * n
    if len(found) != n:
        raise errors.runtime_error(
            f"{name}: {argument} must {text} a tuple of {_COUNTS[n]} ints",
            "Pass one number for all dimensions, or a number for each.",
        )
    return found


def is_default(stride: Shape) -> bool:
    """Whether a stride is left to be the size of the kernel."""
    return stride is None or (isinstance(stride, (tuple, list)) and not stride)


# --- windows ---------------------------------------------------------------------------------


def n_windows(
    size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> int:
    """How many windows fit: with `ceil_mode` one may reach over the end, but not begin there."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    n = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (n - 1) * stride >= size + padding:
        n -= 1
    return n


def check_windows(
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...] | None = None,
) -> None:
    """Raise in PyTorch's order for sizes that make no window."""
    letters = _LETTERS[len(kernel)]
    spread = dilation or (1,) * len(kernel)
    if 0 in stride:
        raise errors.runtime_error("stride should not be zero", _ADVICE)
    for p, k, d in zip(padding, kernel, spread, strict=True):
        if p < 0:
            text = f"pad must be non-negative, but got pad: {p}"
            raise errors.runtime_error(text, _ADVICE)
        if p > (d * (k - 1) + 1) // 2 and k > 0 and d > 0:
            raise errors.runtime_error(
                "pad should be at most half of effective kernel size, but got "
                f"pad={p}, kernel_size={k} and dilation={d}",
                "A window must not lie in the padding alone.",
            )
    for what, short, sizes in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", spread),
    ):
        if min(sizes) <= 0:
            given = " ".join(f"{short}{a}: {n}" for a, n in zip(letters, sizes, strict=True))
            text = f"{what} should be greater than zero, but got {given}"
            raise errors.runtime_error(text, _ADVICE)


def check_half(kernel: tuple[int, ...], padding: tuple[int, ...]) -> None:
    """Raise for padding of more than half a window, which `check_windows` has measured dilated."""
    if all([p <= k // 2 for p, k in zip(padding, kernel, strict=True)]):
        return
    if len(kernel) == 2:
        given = "padW = {1}, padH = {0}, kW = {3}, kH = {2}"
    else:
        given = "kT: {3} kW: {5} kH: {4} padT: {0} padW: {2} padH: {1}"
    raise errors.runtime_error(
        "pad should be smaller than or equal to half of kernel size, but got "
        + given.format(*padding, *kernel),
        _ADVICE,
    )


def no_plane(shape: tuple[int, ...]) -> str:
    """PyTorch's words for what are no images, or empty ones."""
    return (
        "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
        f"got:{list(shape)}"
    )


def check_not_empty(shape: tuple[int, ...], n: int, function: str) -> None:
    """Raise for inputs that are empty in another dimension than that of the batch."""
    start = len(shape) - n - 1
    if 0 in shape[start:]:
        text = (
            f"{function}(): Expected input's non-batch dimensions to have positive length, but "
            f"input has a shape of {list(shape)} and non-batch dimension 0 has length zero!"
        )
        raise errors.runtime_error(no_plane(shape) if n == 2 else text, "There is nothing to pool.")


def check_each(name: str, shape: tuple[int, ...], first: int, words: str) -> None:
    """Raise for inputs that are empty in a dimension from `first` on, named in `words`."""
    for i in range(first, len(shape)):
        if shape[i] == 0:
            text = f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
            raise errors.runtime_error(text + words.format(i), "There is nothing to pool.")


def check_output(sizes: tuple[int, ...], reduced: tuple[int, ...]) -> None:
    """Raise where a dimension has room for no window; `sizes` begin with the channels."""
    if min(reduced) < 1:
        given = "x".join(map(str, sizes))
        found = "x".join(map(str, (sizes[0], *reduced)))
        raise errors.runtime_error(
            f"Given input size: ({given}). Calculated output size: ({found}). Output size is "
            "too small",
            "Use a smaller kernel, or padding.",
        )
