"""Several elementwise statements that are one function of the vector math.

What lies in between is computed no more; where it is read otherwise, all stays as it is.
"""

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


def with_sigmoids(statements: list[Statement], kept: set[int]) -> list[Statement]:
    """The statements with `1 / (1 + exp(-x))` as one function of x; `kept` are ids of outputs."""
    n_writes, n_reads = writes_of(statements), reads_of(statements)
    made: dict[Any, Pointwise] = {}  # key of an access -> the one statement that writes it
    when: dict[int, int] = {}  # id of such a statement -> its place
    changed: dict[int, int] = {}  # id of a buffer -> the place of the last statement that writes it

    def maker(x: Any, expression: str, dtype: NativeDType) -> Pointwise | None:
        found = made.get(x.key) if isinstance(x, Access) else None
        matches = found is not None and found.expression == expression and _is_of(found, dtype)
        return found if matches else None

    def argument(each: Pointwise) -> Access | None:
        """x, if it is 1 / (1 + exp(-x)) that a statement computes."""
        dtype = each.result
        if dtype.kind != "f" or not _is_of(each, dtype):
            return None
        total = maker(_divisor(each), "{0} + {1}", dtype)
        power = total and maker(_beside_one(total), f"tg_exp_{c_types.suffix(dtype)}({{0}})", dtype)
        negative = power and maker(power.args[0], "-{0}", dtype)
        if total is None or power is None or negative is None:
            return None
        x = negative.args[0]
        if not isinstance(x, Access) or changed.get(id(x.buffer), -1) > when[id(negative)]:
            return None
        return x if all(n_reads[id(y.out.buffer)] == 1 for y in (total, power)) else None

    for i, each in enumerate(statements):
        if isinstance(each, Pointwise):
            x = argument(each)
            if x is not None:
                each.expression = f"tg_sigmoid_{c_types.suffix(each.result)}({{0}})"
                each.args, each.types = [x], [each.result]
                each.function = lambda x: 1 / (1 + np.exp(-x))
                each.refresh()
            buffer = each.out.buffer
            if buffer.kind == "memory" and n_writes[id(buffer)] == 1 and id(buffer) not in kept:
                made[each.out.key], when[id(each)] = each, i
        for written in each.writes:
            changed[id(written.buffer)] = i
    return statements


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
