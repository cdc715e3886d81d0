"""The floats among the options of optimizers, where the user's code may read them.

A learning rate is another one in each call. The steps of tapegrad's own optimizers ask for it
as an input of the program; a step that the user wrote, or code that names `param_groups`, takes it
from the dictionary. So numbers whose arithmetic is written down are there while a call is recorded.
"""

from tapegrad.arrays.traced.number import TracedNumber, plain
from tapegrad.core.annotations import Any
from tapegrad.optim.optimizer import Optimizer

_READERS = {"param_groups", "state_dict"}


class Options:
    """The floats of param groups during one recorded call.

    Attributes:
        names: what the options are called
    """

    def __init__(self, recording: Any):
        self._recording = recording
        self._there: list[list] = []  # a group, a key, what was there, what is there meanwhile
        found = recording.found
        are_named = bool(found.optimizers) and not _READERS.isdisjoint(found.names_in_code())
        for optimizer in found.optimizers:
            if are_named or type(optimizer).step is not Optimizer.step:
                self._put(optimizer.param_groups)
        self.names = {key for _, key, *_ in self._there}

    def _put(self, groups: list) -> None:
        for group in groups:
            for key, x in group.items():
                if type(x) is float and self._recording.formats:
                    self._recording.found.guard.equal(group, key, x)
                elif type(x) is float:
                    group[key] = self._recording.number(group, key, None, x)
                elif type(x) is tuple and x and all(type(y) is float for y in x):
                    numbers = [self._recording.number(group, key, i, y) for i, y in enumerate(x)]
                    group[key] = tuple(numbers)
                else:
                    continue
                self._there.append([group, key, x, group[key]])

    def give_back(self, groups: list | None = None) -> None:
        """Put the floats themselves in their places, in all groups or in those given.

        A call that has changed one is no program.
        """
        for each in self._there:
            group, key, x, number = each
            if groups is not None and not any(group is other for other in groups):
                continue
            now = group.get(key)
            if now is number:
                group[key] = x
            else:
                self._recording.refuse(f"it changes {key!r} of an optimizer")
                group[key] = tuple(map(plain, now)) if type(now) is tuple else plain(now)

    def take_again(self, groups: list) -> None:
        """After a schedule has taken its step: what is read from now on are other numbers."""
        for each in self._there:
            group, key, *_ = each
            if any(group is other for other in groups) and key in group:
                x = group[key]
                if type(x) is tuple:
                    late = self._recording.late_number
                    number: Any = tuple([late(group, key, i, y) for i, y in enumerate(x)])
                else:
                    number = self._recording.late_number(group, key, None, x)
                each[2:] = x, number
                group[key] = number

    def may_be_in(self, frame: Any) -> bool:
        """Whether code that runs may have one of these numbers, to give it to a function of C."""
        if not self._there:
            return False
        if not self.names.isdisjoint([x for x in frame.f_code.co_consts if type(x) is str]):
            return True
        return any(map(_has_number, frame.f_locals.values()))


def _has_number(x: Any) -> bool:
    if type(x) in (tuple, list):
        return any(type(each) is TracedNumber for each in x)
    if type(x) is dict:
        return any(type(each) is TracedNumber for each in x.values())
    return type(x) is TracedNumber
