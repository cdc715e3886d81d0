"""Refusals of operators: dtypes they are not made for, derivatives that are not defined."""

from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Namespace, Scalar, Tensor
from tapegrad.core.dtype import of
from tapegrad.core.promote_types import promote

BOOL, INTEGER, FLOATING, COMPLEX = range(4)
_NAMES = ("bool", "integer", "floating-point", "complex")


def common_dtype(*operands: Array) -> Any:
    """The dtype an operator on these tensors and numbers computes in."""
    return promote([getattr(x, "_array", x) for x in operands if x is not None])


def no_kernel(kernel: str, dtype: Any) -> NotImplementedError:
    """The error for a type of elements an operator is not made for."""
    return errors.not_implemented(
        f"\"{kernel}\" not implemented for '{dtype.scalar_name}'",
        f"It is not made for {_NAMES[dtype.category]} tensors: convert first, for example with "
        f".to({'torch.int64' if dtype.category != INTEGER else 'torch.float32'}).",
    )


def require_integers(xp: Namespace, kernel: str, x: Array, bools: bool = True) -> None:
    """Refuse an array of anything but integers; for forward functions, which see every call."""
    if not xp.isdtype(x.dtype, ("bool", "integral") if bools else "integral"):
        raise no_kernel(kernel, of(x.dtype))


def require_norm(dtype: Any) -> None:
    """Refuse integers and truth values, of which PyTorch has no norm."""
    if dtype.category < FLOATING:
        raise errors.runtime_error(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{dtype.scalar_name} instead.",
            "Convert the tensors first: x.float().",
        )


def require_floating(kernel: str, x: Tensor) -> None:
    """Refuse all but real floating-point numbers."""
    if not x.dtype.is_floating_point:
        raise no_kernel(kernel, x.dtype)


def require_order(kernel: str, x: Tensor, bools: bool = True) -> None:
    """Refuse complex numbers, which have no order, and truth values where PyTorch ranks none."""
    kind = x._array.dtype.kind
    if kind == "c" or (kind == "b" and not bools):
        raise no_kernel(kernel, x.dtype)


def refuse_kinds(message: str, x: Tensor, kinds: str = "c") -> None:
    """Refuse complex numbers ("c") or truth values ("b"); `message` has a place for which."""
    kind = x._array.dtype.kind
    if kind in kinds:
        raise errors.runtime_error(
            message.format("complex" if kind == "c" else "bool"),
            "Complex numbers have no order: take .abs(), .real or .imag first."
            if kind == "c"
            else "Convert first: x.to(torch.uint8).",
        )


def lacks(kernel: str, *categories: int) -> Callable:
    """A check that refuses operands whose common dtype is of one of `categories`.

    Operands of one floating dtype pass unseen: to refuse those, look in the forward function.
    """

    def check(*operands: Array) -> None:
        dtype = common_dtype(*operands)
        if dtype.category in categories:
            raise no_kernel(kernel, dtype)

    return check


def unless_empty(check: Callable) -> Callable:
    """The same where each operand has elements: else there is nothing to compute."""

    def filled(*operands: Any) -> None:
        if all(0 not in getattr(x, "shape", ()) for x in operands):
            check(*operands)

    return filled


def wide_only(kernel: str) -> Callable:
    """A check that refuses complex numbers and those of 16 bits."""

    def check(*operands: Array) -> None:
        dtype = common_dtype(*operands)
        if dtype.category == COMPLEX or (dtype.category == FLOATING and dtype.itemsize < 4):
            raise no_kernel(kernel, dtype)

    return check


def no_complex(message: str, error: type = RuntimeError) -> Callable:
    """A check that refuses complex operands in PyTorch's words."""

    def check(*operands: Array) -> None:
        if common_dtype(*operands).category == COMPLEX:
            raise errors.advised(error(message), "Take .real, .imag or .abs() first.")

    return check


def invalid_combination(name: str, given: tuple, *accepted: str) -> TypeError:
    """The error for operands of which PyTorch has no combination."""
    kinds = ", ".join("Tensor" if hasattr(x, "_array") else type(x).__name__ for x in given)
    return errors.type_error(
        f"{name}() received an invalid combination of arguments - got ({kinds}), but expected "
        "one of:\n" + "".join(f" * ({each})\n" for each in accepted),
        "Make a tensor of a number where one is expected: torch.tensor(...).",
    )


def check_real_graph(name: str, *operands: Any) -> None:
    """Refuse complex operands of which one requires grad, where PyTorch has no derivative."""
    tensors = [x for x in operands if hasattr(x, "_array")]
    if any(x._array.dtype.kind == "c" for x in tensors) and is_grad_enabled():
        if any(x.requires_grad for x in tensors):
            raise errors.runtime_error(
                f"{name} does not support automatic differentiation for outputs with complex "
                "dtype.",
                "Compute with the real and the imaginary part apart, or under torch.no_grad().",
            )


_OUT = ", *, Tensor out = None"


def tensor_first(name: str, second: str = "other", *checks: Callable) -> Callable:
    """A check that refuses a number, or what is neither tensor nor number, as first operand."""

    def check(*operands: Array) -> None:
        if not hasattr(operands[0], "_array"):
            forms = [f"Tensor input, {kind} {second}{_OUT}" for kind in ("Tensor", "Number")]
            raise invalid_combination(name, operands, *forms)
        for each in checks:
            each(*operands)

    return check


def two_numbers(name: str, given: tuple, first: str, second: str, with_number: str) -> TypeError:
    """The error for two numbers; the form `with_number` has one for the first operand."""
    tensors = f"Tensor {first}, Tensor {second}{_OUT}"
    return invalid_combination(
        name, given, tensors, with_number, f"Tensor {first}, Number {second}{_OUT}"
    )


def some_tensor(name: str, *checks: Callable) -> Callable:
    """A check that refuses two numbers."""

    def check(input: Tensor, other: Scalar) -> None:
        if not hasattr(input, "_array") and not hasattr(other, "_array"):
            form = "Number self, Tensor other"
            raise two_numbers(name, (input, other), "input", "other", form)
        for each in checks:
            each(input, other)

    return check


def floats_only(kernel: str) -> Callable:
    """Raise for tensors that are not of a real floating-point dtype."""
    return lacks(kernel, BOOL, INTEGER, COMPLEX)


def no_derivative(name: str, instead: str) -> Callable:
    """The rule of an operator whose derivative is not defined: an error when it is asked for."""

    def rule(g: Array) -> Any:
        raise errors.runtime_error(f"derivative for aten::{name} is not implemented", instead)

    return rule
