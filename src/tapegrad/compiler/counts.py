"""Counts that Python keeps while a function runs: `self.steps += 1`.

A call that changes an int which it has read is a program for that int alone. Where the code says
that the int goes nowhere but into the sum that takes its place, the sum is the same in each call:
it is done after the program, and the int is no condition.
"""

import dis
from collections.abc import Iterable
from functools import partial
from types import CellType, CodeType, FunctionType

from tapegrad.core.annotations import Any, Callable

_READERS = frozenset(
    "__dict__ attrgetter delattr eval exec getattr globals locals operator setattr vars".split()
)
"""Names by which code may read and set attributes whose names it does not show."""

_LOADS = frozenset("LOAD_ATTR LOAD_DEREF LOAD_GLOBAL LOAD_NAME LOAD_METHOD".split())
_STORES = frozenset("STORE_ATTR STORE_DEREF STORE_GLOBAL STORE_NAME".split())
_SUMS = frozenset("+ - += -=".split())
_MAKERS = ("__init__", "__post_init__")  # they give an object its first number


class Variable:
    """A variable that functions close over, as a dictionary of it alone."""

    def __init__(self, cell: CellType):
        self.cell = cell

    def __getitem__(self, name: str) -> Any:
        return self.cell.cell_contents

    def __setitem__(self, name: str, x: Any) -> None:
        self.cell.cell_contents = x

    def get(self, name: str) -> Any:
        """What it is; None where it is empty."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return None


class Count:
    """An int that a call has changed: where it is, and what was added."""

    def __init__(self, owner: Any, key: str, before: int):
        self.owner, self.key, self.before = owner, key, before

    def steps(self) -> int:
        """What was added."""
        return self.owner[self.key] - self.before

    def action(self) -> Callable:
        """A function that adds it again."""
        return partial(_add, self.owner, self.key, self.steps())


def _add(owner: Any, key: str, n: int) -> None:
    owner[key] += n


def without_counting(function: Callable, counts: list[Count]) -> Callable:
    """`function`, after which the ints are what they were before."""

    def run(*args: Any, **kwargs: Any) -> Any:
        before = [each.owner[each.key] for each in counts]
        try:
            return function(*args, **kwargs)
        finally:
            for each, n in zip(counts, before, strict=True):
                each.owner[each.key] = n

    return run


def counts_of(ints: Iterable[tuple[Any, str, int]], seen: Iterable[Any]) -> list[Count]:
    """Those of the ints, attributes and variables, that were changed and serve to count alone.

    `seen` is what the call may have used: the code of functions among it is looked at.
    """
    changed = [Count(*each) for each in ints if type(each[0].get(each[1])) is int]
    changed = [each for each in changed if each.steps()]
    if not changed:
        return []
    codes = list(_codes([x.__code__ for x in seen if type(x) is FunctionType]))
    names = {name for code in codes for name in code.co_names}
    if names & _READERS:
        return []
    return [each for each in changed if all(_only_counts(code, each.key) for code in codes)]


def _codes(found: list[CodeType]) -> Iterable[CodeType]:
    """Code, and that of the functions in it."""
    for code in found:
        yield code
        yield from _codes([x for x in code.co_consts if isinstance(x, CodeType)])


def _only_counts(code: CodeType, name: str) -> bool:
    """Whether code reads and writes a name only to put the sum with a constant back."""
    if name in code.co_consts:
        return False
    if name not in (*code.co_names, *code.co_freevars, *code.co_cellvars):
        return True
    instructions = list(dis.get_instructions(code))
    sums: set[int] = set()
    for i, each in enumerate(instructions):
        if each.opname in _LOADS and each.argval == name:
            store = _store_of_sum(name, instructions[max(i - 1, 0) : i + 5])
            if store is None:
                return False
            sums.add(store.offset)
    return code.co_name in _MAKERS or all(
        each.offset in sums
        for each in instructions
        if each.opname in _STORES and each.argval == name
    )


def _store_of_sum(name: str, given: list[dis.Instruction]) -> dis.Instruction | None:
    """What stores the sum of a name and a constant under the name; None if that is not so.

    `given` are the instructions from one before that which loads the name.
    """
    if len(given) < 5 or given[1].argval != name:
        return None
    before, _, constant, plus, after, *rest = given
    if constant.opname not in ("LOAD_CONST", "LOAD_SMALL_INT") or type(constant.argval) is not int:
        return None
    if plus.opname != "BINARY_OP" or plus.argrepr not in _SUMS:
        return None
    if before.opname == "COPY" and after.opname == "SWAP":  # x.n += 1
        store = rest[0] if rest else None
    elif before.opname.startswith("LOAD_FAST") and after.opname.startswith("LOAD_FAST"):
        store = rest[0] if rest and before.argval == after.argval else None  # x.n = x.n + 1
    else:  # of a global variable, or one that is closed over
        is_variable = after.opname in ("STORE_GLOBAL", "STORE_DEREF")
        return after if is_variable and after.argval == name else None
    return store if store and store.opname == "STORE_ATTR" and store.argval == name else None
