"""Checks before the first write into an input.

A program that is found to have changed must have written nothing. Checks, and what they depend on,
move before everything else. Where they depend on an input that the program has written by then, the
program works on a copy of it, which is written back at the end.
"""

from tapegrad.compiler.c_backend.ir import Access, Buffer, Check, Pointwise, PythonCall, Statement
from tapegrad.compiler.c_backend.replace import replaced
from tapegrad.core.annotations import Any, Callable


def with_checks_first(
    statements: list[Statement], shadow: Callable[[Buffer], Access]
) -> list[Statement]:
    """The statements, checks before writes to inputs; `shadow` makes memory like an input's."""
    if not _has_late_check(statements):
        return statements
    first = slice_of_checks(statements)
    early = {
        id(x.buffer): x.buffer for each in first for x in each.writes if x.buffer.kind == "input"
    }
    for buffer in early.values():
        statements = _shadowed(statements, buffer, shadow(buffer))
    if early:
        first = slice_of_checks(statements)
    chosen = {id(each) for each in first}
    return [*first, *(each for each in statements if id(each) not in chosen)]


def is_check(each: Statement) -> bool:
    return isinstance(each, Check) or (isinstance(each, PythonCall) and each.is_check)


def _has_late_check(statements: list[Statement]) -> bool:
    written = False
    for each in statements:
        if written and is_check(each):
            return True
        written = written or any(x.buffer.kind == "input" for x in each.writes)
    return False


def slice_of_checks(statements: list[Statement]) -> list[Statement]:
    """The checks and all that has to run before them, in their order."""
    found: list[Statement] = []
    reads: dict[int, list[Access]] = {}
    writes: dict[int, list[Access]] = {}
    has_effect = False
    for each in reversed(statements):
        depends = (
            is_check(each)
            or (has_effect and each.has_effect)
            or _meets(each.writes, reads)
            or _meets(each.writes, writes)
            or _meets(each.reads, writes)
        )
        if depends:
            found.append(each)
            has_effect = has_effect or each.has_effect
            for table, accesses in ((reads, each.reads), (writes, each.writes)):
                for x in accesses:
                    table.setdefault(id(x.buffer), []).append(x)
    return found[::-1]


def _meets(accesses: list[Access], table: dict[int, list[Access]]) -> bool:
    return any(x.overlaps(y) for x in accesses for y in table.get(id(x.buffer), ()))


def _shadowed(statements: list[Statement], buffer: Buffer, copy: Access) -> list[Statement]:
    """The statements on a copy of an input."""
    value: Any = buffer.value
    dtype = value.dtype
    home = Access(buffer, 0, value.shape, value.strides, dtype)

    def instead(x: Any) -> Any:
        if not isinstance(x, Access) or x.buffer is not buffer:
            return x
        return Access(copy.buffer, x.offset, x.shape, x.strides, x.dtype, x.weak)

    inside = [replaced(each, instead, writes=True) for each in statements]
    same = lambda x: x  # noqa: E731
    there = Pointwise("{0}", [home], [dtype], dtype, copy, same, None)
    back = Pointwise("{0}", [copy], [dtype], dtype, home, same, None)
    there.origin = back.origin = None
    return [there, *inside, back]
