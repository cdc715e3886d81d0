"""Several elementwise statements that are one function of the vector math.

What lies in between is computed no more; where it is read otherwise, all stays as it is.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tapegrad.compiler.c_backend import c_types
from tapegrad.compiler.c_backend.ir import (
    Access,
    Literal,
    Pointwise,
    Statement,
    reads_of,
    writes_of,
)
from tapegrad.core.annotations import Any, NativeDType


def with_idioms(statements: list[Statement], kept: set[int]) -> list[Statement]:
    """The statements with what the vector math has a function for; `kept` are ids of outputs."""
    makers = _Makers(statements, kept)
    for i, each in enumerate(statements):
        if isinstance(each, Pointwise) and each.result.kind == "f" and _is_of(each, each.result):
            for idiom in _IDIOMS:
                x = idiom.argument(each, makers)
                if x is not None:
                    name = f"tg_{idiom.name}_{c_types.suffix(each.result)}"
                    each.expression, each.function = f"{name}({{0}})", idiom.function
                    each.args, each.types = [x], [each.result]
                    each.refresh()
                    break
        makers.add(i, each)
    return statements


class _Makers:
    """The statements that make the values that are written once, and read nowhere but in one."""

    def __init__(self, statements: list[Statement], kept: set[int]):
        self._n_writes, self._n_reads = writes_of(statements), reads_of(statements)
        self._kept = kept
        self._made: dict[Any, Pointwise] = {}  # key of an access -> the statement that writes it
        self._when: dict[int, int] = {}  # id of such a statement -> its place
        self._changed: dict[int, int] = {}  # id of a buffer -> the last place that writes it

    def add(self, place: int, each: Statement) -> None:
        """Know a statement; those before it are known."""
        if isinstance(each, Pointwise):
            buffer = each.out.buffer
            is_once = self._n_writes[id(buffer)] == 1 and id(buffer) not in self._kept
            if buffer.kind == "memory" and is_once:
                self._made[each.out.key], self._when[id(each)] = each, place
        for written in each.writes:
            self._changed[id(written.buffer)] = place

    def maker(self, x: Any, expression: str, dtype: NativeDType) -> Pointwise | None:
        """The statement that makes x by an expression of one dtype."""
        found = self._made.get(x.key) if isinstance(x, Access) else None
        matches = found is not None and found.expression == expression and _is_of(found, dtype)
        return found if matches else None

    def is_read_once(self, each: Pointwise) -> bool:
        return bool(self._n_reads[id(each.out.buffer)] == 1)

    def unchanged(self, x: Any, since: Pointwise) -> Access | None:
        """x, if it is an array that holds what it held when a statement ran."""
        if not isinstance(x, Access) or self._changed.get(id(x.buffer), -1) > self._when[id(since)]:
            return None
        return x


def _sigmoid(each: Pointwise, makers: _Makers) -> Access | None:
    """x of 1 / (1 + exp(-x))."""
    dtype = each.result
    total = makers.maker(_divisor(each), "{0} + {1}", dtype)
    exp = f"tg_exp_{c_types.suffix(dtype)}({{0}})"
    power = total and makers.maker(_beside_one(total), exp, dtype)
    negative = power and makers.maker(power.args[0], "-{0}", dtype)
    if total is None or power is None or negative is None:
        return None
    is_alone = makers.is_read_once(total) and makers.is_read_once(power)
    return makers.unchanged(negative.args[0], negative) if is_alone else None


def _sigmoid_slope(each: Pointwise, makers: _Makers) -> Access | None:
    """y of (1 - y) * y, if it is a sigmoid: of infinity y - y^2 would be nan."""
    sigmoid = f"tg_sigmoid_{c_types.suffix(each.result)}({{0}})"
    for rest, given in _orders(each):
        y = _taken_from_one(rest, each.result, makers)
        if y is not None and y.key == _key(given) and makers.maker(y, sigmoid, each.result):
            return y
    return None


def _tanh_slope(each: Pointwise, makers: _Makers) -> Access | None:
    """y of (1 - y) * (1 + y)."""
    for rest, more in _orders(each):
        y = _taken_from_one(rest, each.result, makers)
        total = makers.maker(more, "{0} + {1}", each.result)
        if y is None or total is None or not makers.is_read_once(total):
            continue
        given = makers.unchanged(_beside_one(total), total)
        if given is not None and given.key == y.key:
            return y
    return None


def _taken_from_one(rest: Any, dtype: NativeDType, makers: _Makers) -> Access | None:
    """y of 1 - y, if nothing else reads the difference."""
    found = makers.maker(rest, "{0} - {1}", dtype)
    if found is None or not _is_one(found.args[0]) or not makers.is_read_once(found):
        return None
    return makers.unchanged(found.args[1], found)


def _key(x: Any) -> Any:
    return x.key if isinstance(x, Access) else None


def _orders(each: Pointwise) -> list[tuple[Any, Any]]:
    """Both orders of the factors of a product."""
    if each.expression != "{0} * {1}":
        return []
    x, y = each.args
    return [(x, y), (y, x)]


class _Idiom(NamedTuple):
    """A function of the vector math, and how it is found: its argument, or None."""

    name: str
    argument: Callable[[Pointwise, _Makers], Access | None]
    function: Callable


_IDIOMS = (
    _Idiom("sigmoid", _sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    _Idiom("sigmoid_slope", _sigmoid_slope, lambda y: (1 - y) * y),
    _Idiom("tanh_slope", _tanh_slope, lambda y: (1 - y) * (1 + y)),
)


def _is_one(x: Any) -> bool:
    return isinstance(x, Literal) and x.value == 1


def _divisor(each: Pointwise) -> Any:
    """What 1 is divided by; None where a statement does something else."""
    if each.expression == "1 / {0}":
        return each.args[0]
    return each.args[1] if each.expression == "{0} / {1}" and _is_one(each.args[0]) else None


def _beside_one(total: Pointwise) -> Any:
    """What 1 is added to."""
    x, y = total.args
    return y if _is_one(x) else x if _is_one(y) else None


def _is_of(each: Pointwise, dtype: NativeDType) -> bool:
    """Whether a statement takes and gives nothing but a dtype."""
    return each.out.dtype == each.result == dtype and all(x == dtype for x in each.types)
