"""Logic: truth values and bits."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Tensor
from tapegrad.core.dtype import of
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import constant_elementwise
from tapegrad.operators.dtype_check import FLOATING, lacks, require_integers, some_tensor

__all__ = [
    "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "logical_and", "logical_not", "logical_or", "logical_xor",
]  # fmt: skip


# --- truth values: whatever is not zero is true ----------------------------------------------


def _truth(xp: Namespace, x: Array) -> Any:
    return x if xp.isdtype(x.dtype, "bool") else x != 0


@constant_elementwise(ufunc="logical_and", numbers=False)
def logical_and(xp, input, other):
    """Where both are true.

    >>> torch.logical_and(torch.tensor([True, True]), torch.tensor([True, False]))
    tensor([ True, False])
    """
    return xp.logical_and(_truth(xp, input), _truth(xp, other))


@constant_elementwise(ufunc="logical_or", numbers=False)
def logical_or(xp, input, other):
    """Where one or both are true.

    >>> torch.logical_or(torch.tensor([True, False]), torch.tensor([False, False]))
    tensor([ True, False])
    """
    return xp.logical_or(_truth(xp, input), _truth(xp, other))


@constant_elementwise(ufunc="logical_xor", numbers=False)
def logical_xor(xp, input, other):
    """Where one of the two is true.

    >>> torch.logical_xor(torch.tensor([True, False]), torch.tensor([True, True]))
    tensor([False,  True])
    """
    return xp.logical_xor(_truth(xp, input), _truth(xp, other))


@constant_elementwise(ufunc="logical_not")
def logical_not(xp, x):
    """Where the tensor is false.

    >>> torch.logical_not(torch.tensor([0.0, 2.0]))
    tensor([ True, False])
    """
    return xp.logical_not(_truth(xp, x))


# --- bits ------------------------------------------------------------------------------------


def _integers(name: str, kernel: str) -> Any:
    return some_tensor(name, lacks(kernel, FLOATING))


@constant_elementwise(check=_integers("bitwise_and", "bitwise_and_cpu"))
def bitwise_and(xp, input, other):
    """The bits set in both; of truth values, where both are true.

    >>> torch.bitwise_and(torch.tensor([6, 3]), 2)
    tensor([2, 2])
    """
    require_integers(xp, "bitwise_and_cpu", input if hasattr(input, "dtype") else other)
    return xp.bitwise_and(input, other)


@constant_elementwise(check=_integers("bitwise_or", "bitwise_or_cpu"))
def bitwise_or(xp, input, other):
    """The bits set in one or both; of truth values, where one is true.

    >>> torch.bitwise_or(torch.tensor([4, 3]), 1)
    tensor([5, 3])
    """
    require_integers(xp, "bitwise_or_cpu", input if hasattr(input, "dtype") else other)
    return xp.bitwise_or(input, other)


@constant_elementwise(check=_integers("bitwise_xor", "bitwise_xor_cpu"))
def bitwise_xor(xp, input, other):
    """The bits set in one of the two; of truth values, where they differ.

    >>> torch.bitwise_xor(torch.tensor([4, 3]), 1)
    tensor([5, 2])
    """
    require_integers(xp, "bitwise_xor_cpu", input if hasattr(input, "dtype") else other)
    return xp.bitwise_xor(input, other)


@constant_elementwise(check=lacks("bitwise_not_cpu", FLOATING))
def bitwise_not(xp, x):
    """The other bits; of truth values, where the tensor is false.

    >>> torch.bitwise_not(torch.tensor([0, 5]))
    tensor([-1, -6])
    """
    require_integers(xp, "bitwise_not_cpu", x)
    return xp.bitwise_invert(x)


@constant_elementwise(check=_integers("bitwise_left_shift", "lshift_cpu"))
def bitwise_left_shift(xp, input, other):
    """The bits moved up by `other` places: times two to the power of `other`.

    >>> torch.bitwise_left_shift(torch.tensor([1, 3]), 2)
    tensor([ 4, 12])
    """
    require_integers(xp, "lshift_cpu", input if hasattr(input, "dtype") else other, bools=False)
    return xp.bitwise_left_shift(input, other)


@constant_elementwise(check=_integers("bitwise_right_shift", "rshift_cpu"))
def bitwise_right_shift(xp, input, other):
    """The bits moved down by `other` places: halved that often, rounded down.

    >>> torch.bitwise_right_shift(torch.tensor([4, -3]), 1)
    tensor([ 2, -2])
    """
    require_integers(xp, "rshift_cpu", input if hasattr(input, "dtype") else other, bools=False)
    return xp.bitwise_right_shift(input, other)


def invert(input: Tensor) -> Any:
    """`~input`: the operator's own words for what it refuses."""
    if of(input._array.dtype).category > 1:
        text = "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        raise errors.type_error(text, "Compare first: ~(x > 0).")
    return bitwise_not(input)


logical_and_, logical_or_ = in_place(logical_and), in_place(logical_or)
logical_xor_, logical_not_ = in_place(logical_xor), in_place(logical_not)
bitwise_and_, bitwise_or_ = in_place(bitwise_and), in_place(bitwise_or)
bitwise_xor_, bitwise_not_ = in_place(bitwise_xor), in_place(bitwise_not)
bitwise_left_shift_ = in_place(bitwise_left_shift)
bitwise_right_shift_ = in_place(bitwise_right_shift)
