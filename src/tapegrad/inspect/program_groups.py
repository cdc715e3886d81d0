"""The parts of a program in groups: those of a line of Python, and rounds of what is repeated."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from tapegrad.inspect.record import Group, settled

_FEW = 12  # that need no rounds
_LONGEST = 200  # parts in a round


def program_groups(phases: list[tuple[str, list]], vertices: list, edges: list) -> list[Group]:
    """The groups of the parts of several programs, which have names where there are several."""
    top = Group("", "", None)
    for name, parts in phases:
        members = _in_rounds(_by_line(parts))
        top.members += [_group(name, "program", members)] if len(phases) > 1 else members
    _adopt(top)
    return settled(top, vertices, edges)


def _group(name: str, kind: str, members: list) -> Group:
    found = Group(name, kind, None)
    found.members = members
    _adopt(found)
    return found


def _adopt(group: Group) -> None:
    for each in group.members:
        if isinstance(each, Group):
            each.parent = group
        else:
            each.group = group


def _by_line(parts: list) -> list:
    """Parts of the same line, one after another, as a group."""
    found: list[Any] = []
    for place, several in groupby(parts, lambda vertex: vertex.place):
        members = list(several)
        if len(members) == 1 or not place:
            found += members
        else:
            name = members[0].code or place
            found.append(_group(name, place if members[0].code else "line", _in_rounds(members)))
    return found


def _in_rounds(members: list) -> list:
    """The members, those that repeat themselves in a group for each round."""
    if len(members) <= _FEW:
        return members
    start, period, n, rest = _repeated([_key(x) for x in members])
    if n < 2:
        return members
    groups: list[Any] = members[start : start + n]
    if period > 1:
        named = [
            (_rounds(members, first, period, n), first) for first in range(start, start + rest + 1)
        ]
        # where it may begin in several places, there where rounds have most of a name of their own
        rounds, start = max(named, key=lambda x: sum(len(_layer(each)) for each in x[0]))
        groups = [
            _group(_layer(each) or f"{i + 1} of {n}", "round", each)
            for i, each in enumerate(rounds)
        ]
    end = start + period * n
    return [*_in_rounds(members[:start]), *groups, *_in_rounds(members[end:])]


def _rounds(members: list, start: int, period: int, n: int) -> list[list]:
    return [members[k : k + period] for k in range(start, start + period * n, period)]


def _key(member: Any) -> Any:
    """What is the same in each round."""
    return member.kind if isinstance(member, Group) else (member.place, *member.part.operators)


def _repeated(keys: Sequence) -> tuple[int, int, int, int]:
    """Where the longest repetition begins, how long a round is, how often it comes, and how much
    of another round follows."""
    best, longest = (0, 1, 1, 0), 0
    for period in range(1, min(len(keys) // 2, _LONGEST) + 1):
        run = 0
        for i in range(len(keys) - period):
            run = run + 1 if keys[i] == keys[i + period] else 0
            n = run // period + 1
            if n > 1 and run + period > longest:
                best, longest = (i + 1 - run, period, n, run % period), run + period
    return best


def _layer(members: list) -> str:
    """The parameter of a round, or what the names of all begin with, up to a number; or ""."""
    names = {name for each in members for name in _parameters(each)}
    if len(names) == 1:
        return names.pop()
    shared: list[str] = []
    for words in zip(*[name.split("_") for name in names], strict=False):
        if len(set(words)) > 1:
            break
        shared.append(words[0])
    while shared and not shared[-1].isdigit():
        shared.pop()
    return "_".join(shared)


def _parameters(member: Any) -> list[str]:
    if isinstance(member, Group):
        return [name for each in member.members for name in _parameters(each)]
    return member.parameters
