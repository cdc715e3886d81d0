"""Views, copies and writes: what moves elements and computes nothing."""

import numpy as np

from tapegrad.arrays.traced.program import Instruction, Value
from tapegrad.compiler.c_backend.ir import Access, Literal
from tapegrad.compiler.c_backend.lowering import Lowering, written
from tapegrad.core.annotations import Any

_BASIC = (int, slice, type(None), type(Ellipsis))


def is_basic(key: Any) -> bool:
    """Whether an index picks a strided part, wherever the program is."""
    key = key if type(key) is tuple else (key,)
    for each in key:
        parts = (each.start, each.stop, each.step) if type(each) is slice else (each,)
        if any(type(x) is bool or not isinstance(x, _BASIC) for x in parts):
            return False
    return True


def part_of(access: Access, key: Any) -> Access:
    """The part that a basic index picks."""
    probe = np.lib.stride_tricks.as_strided(np.empty(1, "b"), access.shape, access.strides)
    seen = (
        probe[(*(key if type(key) is tuple else (key,)), Ellipsis)]
        if not _has_rest(key)
        else (probe[key])
    )
    start = seen.__array_interface__["data"][0] - probe.__array_interface__["data"][0]
    return Access(access.buffer, access.offset + start, seen.shape, seen.strides, access.dtype)


def _has_rest(key: Any) -> bool:
    return any(x is Ellipsis for x in (key if type(key) is tuple else (key,)))


def lower_view(lowering: Lowering, instruction: Instruction) -> bool:
    """What gives a part of memory that was there before, or the array itself."""
    result = instruction.result
    if instruction.text == "expect" or written(instruction):
        return False
    results = result if type(result) is tuple else (result,)
    if not results or not all(isinstance(x, Value) for x in results):
        return False
    if not all(x.number in lowering.places or lowering.is_view(x) for x in results):
        return False
    sources = [x for x in flat(instruction.args) if isinstance(x, Value)]
    for x in results:
        if x.number not in lowering.places:
            source = next((s for s in sources if s.root is x.root), x.root)
            lowering.see(x, source)
    return True


def flat(x: Any) -> Any:
    """All that is in nested tuples and lists."""
    for each in x:
        if type(each) in (tuple, list):
            yield from flat(each)
        else:
            yield each


_COPIES = frozenset(
    "xp.astype xp.asarray xp.copied .astype .copy np.ascontiguousarray xp.broadcast_to xp.view_to "
    "xp.positive np.copy xp.real xp.conj".split()
)
_RESHAPES = frozenset(
    "xp.reshape .reshape .ravel .flatten np.ravel xp.expand_dims xp.squeeze".split()
)
_VIEWS = frozenset(
    ".transpose xp.permute_dims xp.moveaxis xp.matrix_transpose .swapaxes xp.flip".split()
)
"""What gives views of arrays, and copies of numbers alone."""


def _is_reshape(instruction: Instruction) -> bool:
    """Whether it keeps the elements in row-major order."""
    text = instruction.text
    if text in (".ravel", ".flatten", "np.ravel"):
        return len(instruction.args) == 1 and not instruction.kwargs
    return text in _RESHAPES and "order" not in instruction.kwargs


def lower_copy(lowering: Lowering, instruction: Instruction) -> bool:
    """Copies and casts."""
    text, result = instruction.text, instruction.result
    is_reshape = _is_reshape(instruction)
    if not (text in _COPIES or text in _VIEWS or is_reshape or text == "getitem"):
        return False
    source = instruction.args[0]
    if not lowering.is_array(result) or not lowering.is_array(source):
        return False
    place = lowering.place(source)
    if text in _VIEWS and place.size != 1:
        return False
    if text in _COPIES and place.shape != result.shape:
        if "broadcast" not in text and "view_to" not in text:
            return False
    if text == "getitem":
        if not is_basic(instruction.args[1]):
            return False
        place = part_of(place, instruction.args[1])
    out = lowering.fresh(result)
    if is_reshape or text in _VIEWS:
        seen = place.reshaped(result.shape)
        if seen is None:
            seen, out_seen = place, out.reshaped(place.shape)
            if out_seen is None:
                raise AssertionError("fresh memory of a reshape is dense")
            out = out_seen
        place = seen
    lowering.copy(place, out, instruction.line)
    return True


def lower_order(lowering: Lowering, instruction: Instruction) -> bool:
    """Copies into the order of memory that a rule wants; the results that need none are given."""
    if not instruction.text.startswith("order."):
        return False
    given, found = instruction.args[0], instruction.result
    given = given if type(given) in (tuple, list) else (given,)
    found = found if type(found) is tuple else (found,)
    if len(given) != len(found):
        return False
    for a, b in zip(given, found, strict=True):
        same = a is b or (a is None and b is None)
        if not same and not (lowering.is_array(a) and lowering.is_array(b) and a.shape == b.shape):
            return False
    for a, b in zip(given, found, strict=True):
        if isinstance(b, Value) and b.number not in lowering.places:
            if lowering.is_view(b):
                lowering.see(b, a if a.root is b.root else b.root)
            else:
                lowering.copy(lowering.place(a), lowering.fresh(b), instruction.line)
    return True


def lower_write(lowering: Lowering, instruction: Instruction) -> bool:
    """`x[key] = y`, `np.copyto(x, y)` and `x.fill(y)`."""
    text, args = instruction.text, instruction.args
    if text not in ("setitem", "np.copyto", ".fill") or not lowering.is_array(args[0]):
        return False
    extra = instruction.kwargs.keys() - {"casting"}
    key: Any = args[1] if text == "setitem" else Ellipsis
    x = lowering.operand(args[-1])
    if extra or x is None or not is_basic(key) or len(args) != (3 if text == "setitem" else 2):
        return False
    out = part_of(lowering.place(args[0]), key)
    if isinstance(x, Access):
        while len(x.shape) > len(out.shape) and x.shape[0] == 1:
            x = Access(x.buffer, x.offset, x.shape[1:], x.strides[1:], x.dtype, x.weak)
    elif out.dtype.kind in "iu" and not _fits(x.value, out.dtype):
        return False
    lowering.copy(x, out, instruction.line)
    return True


def _fits(x: Any, dtype: Any) -> bool:
    info = np.iinfo(dtype)
    return type(x) is not float and info.min <= int(x) <= info.max


def lower_parts(lowering: Lowering, instruction: Instruction) -> bool:
    """`concat`, `stack`, and arrays padded with zeros: results that are written part by part."""
    text, args, result = instruction.text, instruction.args, instruction.result
    if not lowering.is_array(result):
        return False
    if text in ("xp.concat", "xp.stack"):
        return _lower_joined(lowering, instruction)
    if text not in ("xp.pad_slice", "xp.pad_select") or not lowering.is_array(args[0]):
        return False
    if instruction.kwargs:
        return False
    axis = args[2]
    key = slice(*args[3:6]) if text == "xp.pad_slice" else args[3]
    if not is_basic(key):
        return False
    out = lowering.fresh(result)
    lowering.copy(Literal(0, weak=True), out, instruction.line)
    part = part_of(out, (slice(None),) * (axis % len(out.shape)) + (key,))
    lowering.copy(lowering.place(args[0]), part, instruction.line)
    return True


def _lower_joined(lowering: Lowering, instruction: Instruction) -> bool:
    parts, result = instruction.args[0], instruction.result
    if not all(lowering.is_array(x) for x in parts) or instruction.kwargs.keys() - {"axis"}:
        return False
    axis = instruction.kwargs.get("axis", 0)
    if axis is None:
        return False
    out = lowering.fresh(result)
    before = (slice(None),) * (axis % len(out.shape))
    start = 0
    for x in parts:
        place = lowering.place(x)
        if instruction.text == "xp.stack":
            part = part_of(out, (*before, start))
            start += 1
        else:
            n = place.shape[len(before)]
            part = part_of(out, (*before, slice(start, start + n)))
            start += n
        lowering.copy(place, part, instruction.line)
    return True
