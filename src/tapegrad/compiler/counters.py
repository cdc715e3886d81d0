"""Counts in attributes, such as `self.steps += 1`: replayed, not asked about.

A number that Python reads is a condition of a program. One that the recorded call has only added a
constant to is none, where the code that may run says so: wherever it names the attribute, it does
that and nothing else.
"""

import dis
import types

from tapegrad.compiler.sources import Found, is_library, names_of
from tapegrad.nn.modules.module import Module

_BY_NAME = frozenset("getattr setattr delattr vars __dict__ __getattr__ eval exec hasattr".split())
_CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")


class Counter:
    """An entry of a dictionary of attributes, and what a call adds to it."""

    def __init__(self, owner: dict, key: str, step: int):
        self.owner, self.key, self.step = owner, key, step


def counters_of(found: Found) -> list[Counter]:
    """The counts that a call has changed; nothing is asked about them any more."""
    counters = []
    for place in found.numbers:
        now = place.now()
        if type(now) is not int or now == place.old:
            continue
        if not _is_of_a_users_class(found, place.owner) or not _only_counts(found, place.key):
            continue
        found.guard.forget(id(place))
        found.guard.kind(place.owner, place.key, now)
        counters.append(Counter(place.owner, place.key, now - place.old))
    return counters


def _is_of_a_users_class(found: Found, attributes: dict) -> bool:
    """Whether these are attributes of an object of which only a user's code knows them."""
    kinds = [type(x) for x in found.seen.values() if getattr(x, "__dict__", None) is attributes]
    return bool(kinds) and all(
        each in Module.__mro__ or not is_library(each) for kind in kinds for each in kind.__mro__
    )


def _only_counts(found: Found, name: str) -> bool:
    """Whether all code that was found does nothing with attributes of a name but to add to them."""
    codes = [
        (x.__code__, x.__name__ == "__init__")
        for x in found.seen.values()
        if isinstance(x, types.FunctionType)
    ]
    adds = 0
    for code, is_first in codes:
        inside = [code, *_codes_in(code)]
        texts = {x for each in inside for x in each.co_consts if isinstance(x, str)}
        if name in texts or _BY_NAME.intersection(names_of(code)):
            return False  # it may be looked up by its name
        for each in inside if not is_first else ():  # which gives an object its first number
            if name in each.co_names:
                if not _adds_only(each, name):
                    return False
                adds += 1
    return adds > 0


def _codes_in(code: types.CodeType) -> list[types.CodeType]:
    inside = [x for x in code.co_consts if isinstance(x, types.CodeType)]
    return [*inside, *[x for each in inside for x in _codes_in(each)]]


def _adds_only(code: types.CodeType, name: str) -> bool:
    """Whether each use of a name is a part of `x.name += 1` or `x.name = x.name + 1`."""
    lines = list(dis.get_instructions(code))
    stores: set[int] = set()
    for i, each in enumerate(lines):
        if each.argval != name or each.opname in _CONSTANTS:
            continue
        if each.opname == "STORE_ATTR" and i in stores:
            continue
        if each.opname != "LOAD_ATTR" or len(lines) < i + 5:
            return False
        constant, operator, _, store = lines[i + 1 : i + 5]
        is_sum = operator.opname == "BINARY_OP" and operator.argrepr in ("+", "+=", "-", "-=")
        if constant.opname not in _CONSTANTS or type(constant.argval) is not int or not is_sum:
            return False
        if store.opname != "STORE_ATTR" or store.argval != name:
            return False
        stores.add(i + 4)
    return True
