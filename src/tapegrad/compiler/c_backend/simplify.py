"""Statements that need not run: known numbers, repeated computations, results that nobody reads.

Each pass keeps the order of statements, and speaks of a buffer as "written once" where exactly one
statement writes it: what such a buffer holds is the same wherever it is read.
"""

from collections import Counter

import numpy as np

from tapegrad.compiler.c_backend.idioms import with_idioms
from tapegrad.compiler.c_backend.ir import (
    Access,
    Buffer,
    Check,
    Literal,
    Pointwise,
    Product,
    Reduction,
    Statement,
    size_of,
    writes_of,
)
from tapegrad.compiler.c_backend.norm_of_kernels import with_norms
from tapegrad.compiler.c_backend.relu_of_calls import with_relu
from tapegrad.compiler.c_backend.replace import replaced
from tapegrad.core.annotations import Any


def simplified(statements: list[Statement], outputs: list[Access]) -> list[Statement]:
    """The statements that are left; accesses of `outputs` stay valid."""
    kept = {id(x.buffer) for x in outputs}
    found = without_repeats(with_known_numbers(statements), kept)
    found = with_relu(with_norms(with_idioms(found, kept), kept), kept)
    return live(found, outputs)


# --- known numbers -------------------------------------------------------------------------------


def with_known_numbers(statements: list[Statement]) -> list[Statement]:
    """Numbers in the place of arrays that are filled with one, and computed where all are known."""
    n_writes = writes_of(statements)
    known: dict[int, Any] = {}
    found = []
    for each in statements:
        if isinstance(each, Reduction) and id(each.arg.buffer) in known:
            each = _folded_sum(each, known[id(each.arg.buffer)])
        found.append(each)
        if isinstance(each, (Pointwise, Check)):
            args = each.args if isinstance(each, Pointwise) else each.numbers
            for i, x in enumerate(args):
                if isinstance(x, Access) and id(x.buffer) in known:
                    args[i] = known[id(x.buffer)]
            if isinstance(each, Check):
                each.reads = [x for x in args if isinstance(x, Access)]
                continue
            _fold(each)
            each.refresh()
            out = each.out
            if each.expression == "{0}" and isinstance(each.args[0], Literal):
                if out.buffer.kind == "memory" and n_writes[id(out.buffer)] == 1:
                    if not out.buffer.value or _is_whole(out):
                        known[id(out.buffer)] = each.args[0]
    return found


def _folded_sum(each: Reduction, x: Literal) -> Statement:
    """The reduction of a number that is repeated."""
    kept = [i for i in range(len(each.shape)) if i not in each.axes]
    over = each.out
    n = size_of([each.shape[i] for i in each.axes])
    dtype = over.dtype
    if each.how == "sum":
        found = dtype.type(x.value) * dtype.type(n)
    elif each.how in ("max", "min", "any", "all"):
        found = dtype.type(x.value)
    else:
        return each
    shape, strides = (tuple(each_of[i] for i in kept) for each_of in (each.shape, over.strides))
    out = Access(over.buffer, over.offset, shape, strides, dtype)
    number = Pointwise("{0}", [Literal(found)], [dtype], dtype, out, lambda x: x, each.line)
    number.origin = each.origin
    return number


def _is_whole(out: Access) -> bool:
    """Whether it is all of its buffer that has a value."""
    return out.shape == out.buffer.value.shape and out.offset == 0


def _fold(each: Pointwise) -> None:
    """Compute what is known, and leave out what changes nothing."""
    if all(isinstance(x, Literal) for x in each.args):
        numbers = [
            x.value if x.weak else dtype.type(x.value)
            for x, dtype in zip(each.args, each.types, strict=True)
        ]
        with np.errstate(all="ignore"):
            found = np.asarray(each.function(*numbers)).astype(each.out.dtype)[()]
        _make_copy(each, Literal(found), each.out.dtype)
        return
    if each.expression in ("{0} * {1}", "{0} / {1}"):
        x, y = each.args
        if isinstance(y, Literal) and y.value == 1:
            _make_copy(each, x, each.types[0])
        elif isinstance(x, Literal) and x.value == 1 and each.expression == "{0} * {1}":
            _make_copy(each, y, each.types[1])


def _make_copy(each: Pointwise, x: Any, dtype: Any) -> None:
    each.expression, each.args, each.types, each.result = "{0}", [x], [dtype], dtype
    each.function = lambda x: x


# --- repeated computations -----------------------------------------------------------------------


_NOTHING = Buffer("memory", "nothing", None)


def without_repeats(statements: list[Statement], kept: set[int]) -> list[Statement]:
    """Each computation once: its repetition reads what the first has written."""
    n_writes = writes_of(statements)
    versions: Counter = Counter()
    same: dict[int, Buffer] = {}
    seen: dict[Any, Buffer] = {}
    found: list[Statement] = []

    def instead(x: Any) -> Any:
        buffer = same.get(id(x.buffer)) if isinstance(x, Access) else None
        if buffer is None:
            return x
        return Access(buffer, x.offset, x.shape, x.strides, x.dtype, x.weak)

    for each in statements:
        replaced(each, instead)
        key = _key(each, versions)
        if isinstance(each, Check) and key in seen:
            continue
        if isinstance(each, Check):
            seen[key] = _NOTHING
        out = each.writes[0] if len(each.writes) == 1 else None
        if key is not None and out is not None and out.buffer.kind == "memory":
            if n_writes[id(out.buffer)] == 1:
                first = seen.get(key)
                if first is not None and id(out.buffer) not in kept:
                    same[id(out.buffer)] = first
                    continue
                seen.setdefault(key, out.buffer)
        for x in each.writes:
            versions[id(x.buffer)] += 1
        found.append(each)
    return found


def _key(each: Statement, versions: Counter) -> Any:
    """What a statement computes; None where it is not to be compared."""

    def of(x: Any) -> Any:
        return x.key if isinstance(x, Literal) else (x.key, versions[id(x.buffer)])

    if isinstance(each, Pointwise):
        args = tuple(of(x) for x in each.args)
        types = tuple(x.char for x in each.types)
        return each.expression, args, types, _layout(each.out)
    if isinstance(each, Reduction):
        return each.how, of(each.arg), each.axes, _layout(each.out)
    if isinstance(each, Product):
        return "product", of(each.x), of(each.y), _layout(each.out)
    if isinstance(each, Check):
        return "check", each.condition, tuple(of(x) for x in each.numbers)
    return None


def _layout(out: Access) -> Any:
    return out.offset, out.shape, out.strides, out.dtype.char


# --- results that nobody reads -------------------------------------------------------------------


def live(statements: list[Statement], outputs: list[Access]) -> list[Statement]:
    """The statements whose effect reaches an output, an input, a check or a call of Python."""
    needed = {id(x.buffer) for x in outputs}
    found: list[Statement] = []
    for each in reversed(statements):
        is_live = (
            each.may_raise
            or each.has_effect
            or any(x.buffer.kind in ("input", "constant") for x in each.writes)
            or any(id(x.buffer) in needed for x in each.writes)
        )
        if is_live:
            found.append(each)
            needed.update(id(x.buffer) for x in each.reads)
    return found[::-1]
