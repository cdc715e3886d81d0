"""Type promotion: the dtype of a computation on several dtypes."""

import numpy as np

from tapegrad.core.dtype import (
    BY_NAME,
    as_dtype,
    bool_,
    current,
    dtype,
    float32,
    int8,
    int16,
    int64,
    of,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tapegrad.core.errors import invalid_combination, runtime_error
from tapegrad.core.tensor_base import SPARSE, TensorBase
from tapegrad.core.torch_function import overridden

_BARE_UNSIGNED = (uint16, uint32, uint64)


def _promote_pair(a: dtype, b: dtype) -> dtype:
    if a is b:
        return a
    if a.name not in BY_NAME or b.name not in BY_NAME:
        from tapegrad.core.named_dtype import promote

        return promote(a, b)
    low, high = (a, b) if a.category <= b.category else (b, a)
    if a.abbr[:2] == "f8" or b.abbr[:2] == "f8":
        raise runtime_error(
            "Promotion for Float8 Types is not supported, "
            f"attempted to promote {a.scalar_name} and {b.scalar_name}",
            "Convert one of them first, for example with .to(torch.float32).",
        )
    if a in _BARE_UNSIGNED or b in _BARE_UNSIGNED:
        if high.is_floating_point:
            return high
        raise runtime_error(
            "Promotion for uint16, uint32, uint64 types is not supported, "
            f"attempted to promote {a.scalar_name} and {b.scalar_name}",
            "Convert one of them first, for example with .to(torch.int64).",
        )
    if high.is_complex and low.is_floating_point:
        low = low.to_complex()
    if low.category < high.category:
        return high
    if {a, b} == {uint8, int8}:
        return int16
    if low.itemsize == high.itemsize and low is not high:  # float16 and bfloat16
        return float32
    return low if low.itemsize > high.itemsize else high


_pairs: dict[tuple[dtype, dtype], dtype] = {}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both types can be converted to.

    >>> torch.promote_types(torch.int32, torch.float32)
    torch.float32
    """
    a = as_dtype(type1, "promote_types", "type1", 1)
    return _pair(a, as_dtype(type2, "promote_types", "type2", 2))


def _pair(a: dtype, b: dtype) -> dtype:
    found = _pairs.get((a, b))
    if found is None:
        found = _pairs[a, b] = _promote_pair(a, b)
    return found


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a conversion keeps the kind of number: no complex to real, no fraction to integer.

    >>> torch.can_cast(torch.float64, torch.int32)
    False
    """
    source = as_dtype(from_, "can_cast", "from_", 1)
    return source.category <= as_dtype(to, "can_cast", "to", 2).category


# --- operands --------------------------------------------------------------------------------

_NUMBERS = (bool, int, float, complex)


def _number_type(x):
    """Which of Python's number types the scalar `x` counts as; None for an array."""
    if isinstance(x, np.bool_):
        return float  # PyTorch reads NumPy's truth values as numbers
    if isinstance(x, np.generic):
        return _NUMBERS[of(x.dtype).category]
    for kind in _NUMBERS:
        if isinstance(x, kind):
            return kind
    return None


def promote(operands) -> dtype:
    """The dtype of a computation on `operands`, arrays and Python numbers.

    0-d arrays do not raise the dtype within a category (integer, floating point, complex), and
    numbers raise it even less: an int8 array and a 0-d int64 array give int8.
    """
    parts = []  # for each operand: its number type, its array dtype, or (dtype,) where it is 0-d
    for x in operands:
        kind = type(x)
        if kind is np.ndarray:
            parts.append(x.dtype if x.ndim else (x.dtype,))
        elif kind in _NUMBERS:
            parts.append(kind)
        else:
            parts.append(_number_type(x) or _array_part(x))
    key = tuple(parts)
    default, known = current[0]
    found = known.get(key)
    if found is None:
        found = known[key] = _promote_key(key, default)
    return found


def _array_part(x):
    found = of(x.dtype)  # ours: another library's dtype may claim to equal NumPy's, and warn
    return found if x.ndim else (found,)


def _promote_key(key, default):
    ranks = [None, None, None]  # arrays with axes, 0-d arrays, numbers
    for part in key:
        if type(part) is tuple:
            rank, found = 1, of(part[0])
        elif type(part) is type:
            rank, found = 2, _dtype_of_number(part, default)
        else:
            rank, found = 0, of(part)
        ranks[rank] = found if ranks[rank] is None else _pair(ranks[rank], found)
    arrays, scalars, numbers = ranks
    found = _raise_category(arrays, _raise_category(scalars, numbers))
    if found is None:
        raise ValueError("promote() needs at least one operand")
    return found


def _dtype_of_number(kind, default):
    if kind is float:
        return default
    if kind is complex:
        return default.to_complex()
    return int64 if kind is int else bool_


def _raise_category(strong, weak):
    """The dtype of `strong`, unless `weak` is of a higher category."""
    if strong is None or weak is None:
        return strong or weak
    if strong.is_complex or weak.category <= strong.category:
        return strong if strong is not bool_ else _pair(strong, weak)
    if strong.is_floating_point:
        return strong.to_complex()
    if weak.is_complex:
        return weak
    return _pair(strong, weak)


def _values(x):
    """The values of a sparse tensor, whose dtype is its own; else `x`."""
    is_sparse = isinstance(x, TensorBase) and x.is_sparse
    return x.detach()._values() if is_sparse else x


def result_type(tensor, other=None, *, x2=None) -> dtype:
    """The dtype of an operation on two operands, tensors or Python numbers.

    >>> torch.result_type(torch.tensor([1, 2], dtype=torch.int8), 1.0)
    torch.float32
    """
    other = x2 if other is None else other
    try:
        return _result_type(tensor, other)
    except Exception:
        again = overridden(result_type, (tensor, other))
        if again is None:
            raise
    return again()


def _result_type(tensor, other):
    if SPARSE:
        tensor, other = (_values(x) for x in (tensor, other))
    arrays = [getattr(x, "_array", x) for x in (tensor, other)]
    for x, array in zip((tensor, other), arrays, strict=True):
        if array is x and _number_type(x) is None:
            raise invalid_combination("result_type", (tensor, other), {}, _FORMS)
    return promote(arrays)


_FORMS = (
    "Tensor tensor, Tensor other",
    "Number scalar, Tensor tensor",
    "Tensor tensor, Number other",
    "Number scalar1, Number scalar2",
)
