"""What programs make sure of: `torch._assert`, `torch._check` and their kin."""

from collections.abc import Callable
from typing import Any

from tapegrad.core import errors
from tapegrad.overrides import handle_torch_function, has_torch_function_unary
from tapegrad.tensors.tensor import Tensor

__torch__ = (
    "_assert _assert_async _assert_scalar _assert_tensor_metadata _check _check_index "
    "_check_is_size _check_not_implemented _check_tensor_all _check_tensor_all_with _check_type "
    "_check_value _check_with _is_all_true _is_any_true"
)

_UNSAID = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, "
    "please report an enhancement request to PyTorch.)"
)


def _assert(condition: Any, message: str) -> Any:
    """Python's `assert`, as a function.

    >>> torch._assert(1 < 0, "the order of numbers")
    Traceback (most recent call last):
    AssertionError: the order of numbers
    """
    if type(condition) not in (bool, Tensor) and has_torch_function_unary(condition):
        return handle_torch_function(_assert, (condition,), condition, message)
    if not condition:
        raise AssertionError(message)
    return None


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise unless the one element of a tensor is not zero."""
    if bool(input):
        return
    message = assert_msg or "Expected Tensor with single nonzero value, but got zero"
    raise errors.runtime_error(message, "It is what the program made sure of.")


def _assert_scalar(input: Any, assert_msg: str) -> None:
    """Raise where a number is zero."""
    if not input:
        raise errors.runtime_error(assert_msg, "It is what the program made sure of.")


def _assert_tensor_metadata(
    a: Tensor,
    size: Any = None,
    stride: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    layout: Any = None,
) -> None:
    """Raise unless a tensor has the size, strides, dtype, device and layout that are given."""
    have = (
        ("dtype", dtype, a.dtype),
        ("size", None if size is None else tuple(size), tuple(a.shape)),
        ("stride", None if stride is None else tuple(stride), tuple(a.stride())),
        ("device", device, a.device),
        ("layout", layout, a.layout),
    )
    for what, expected, found in have:
        if expected is not None and expected != found:
            raise errors.runtime_error(
                f"Tensor {what} mismatch!", f"Expected {expected}, and the tensor has {found}."
            )


def _check_with(error_type: type[Exception], cond: Any, message: Callable | None) -> None:
    """Raise an error of a class, of what `message()` says, unless `cond` is True."""
    if not isinstance(cond, bool):
        raise errors.type_error(
            f"cond must be a bool, but got {type(cond)}", "Compare, and pass what that gives."
        )
    if not cond:
        raise error_type(_text(message))


def _text(message: Any) -> str:
    if message is None:
        return _UNSAID
    if not callable(message):
        raise errors.type_error(
            "message must be a callable", "Pass lambda: 'text': it is called when it is needed."
        )
    return str(message())


def _check(cond: Any, message: Callable | None = None) -> None:
    """Raise a RuntimeError of what `message()` says unless `cond` is True.

    >>> torch._check(2 + 2 == 5, lambda: "two and two")
    Traceback (most recent call last):
    RuntimeError: two and two
    """
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Callable | None = None) -> None:
    """The same with an IndexError."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Callable | None = None) -> None:
    """The same with a ValueError."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Callable | None = None) -> None:
    """The same with a TypeError."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Callable | None = None) -> None:
    """The same with a NotImplementedError."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: int, message: Callable | None = None, *, max: int | None = None) -> None:
    """Raise unless `i` can be a size: not negative, and at most `max`. PyTorch warns of its end."""
    errors.deprecated(
        "_check_is_size will be removed in a future PyTorch release along with "
        "guard_size_oblivious.     Use _check(i >= 0) instead."
    )
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(
    error_type: type[Exception], cond: Any, message: Callable | None = None
) -> None:
    """Raise an error of a class unless all elements of a tensor of bools are True."""
    if not isinstance(cond, Tensor):
        raise errors.type_error(
            f"cond must be a tensor, but got {type(cond)}", "_check takes a bool of Python."
        )
    if cond.dtype.name != "bool":
        raise errors.type_error(
            f"cond tensor must have dtype torch.bool, but got {cond.dtype}", "Compare the elements."
        )
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Any, message: Callable | None = None) -> None:
    """The same with a RuntimeError."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _is_all_true(self: Tensor) -> Tensor:
    """Whether all elements of a tensor of bools are True."""
    return self.all()


def _is_any_true(self: Tensor) -> Tensor:
    """Whether an element of a tensor of bools is True."""
    return self.any()
