"""The numbers that optimizers keep, where the user's code may read them: inputs of the program.

A learning rate is another one in each call, and so is a count of steps. The steps of tapegrad's
own optimizers ask for a rate as an input; a step that the user wrote, or code that names
`param_groups`, takes it from the dictionary. So numbers whose arithmetic is written down are there
while a call is recorded: in the places of the floats among the options at once, in those of other
numbers in groups and in state once one was another, as `varying.py` knows.
"""

from contextlib import nullcontext

from tapegrad.arrays.traced.number import TracedNumber, plain
from tapegrad.compiler.recorded_math import recorded_functions
from tapegrad.core.annotations import Any
from tapegrad.optim.optimizer import Optimizer

_READERS = {"param_groups", "state_dict"}
_TELLERS = {"type", "json", "float", "np", "numpy", "array", "asarray"}
"""What code names that may tell a recorded int from an int."""
_LARGEST = 2**31


class Options:
    """The numbers of groups and state during one recorded call.

    Attributes:
        names: what the options are called
        inputs: those that are others in each call, as they were: (owner, key, number)
        changes: of numbers, by the call
        are_named: whether the user's code may read them itself
        receivers: the code to which functions gave numbers that are recorded
        found_varying: whether some are found to be others after the call
    """

    def __init__(self, recording: Any):
        self._recording = recording
        self.receivers: set[Any] = set()
        self._there: list[list] = []  # an owner, a key, what was there, what is there meanwhile
        self.inputs: list[tuple] = []
        self.changes: list[Change] = []
        self.found_varying = False
        found = recording.found
        names = found.names_in_code() if found.optimizers else set()
        self.are_named = are_named = not _READERS.isdisjoint(names)
        self.may_be_read = are_named or not names.isdisjoint(("state", "state_dict", "defaults"))
        self._tells = recording.formats or not _TELLERS.isdisjoint(names)
        self._read = {
            id(x): are_named or type(x).step is not Optimizer.step for x in found.optimizers
        }
        for optimizer in found.optimizers:
            if self._read[id(optimizer)]:
                self._put(optimizer.param_groups)
        self._put_varying()
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
                if (id(group), key) in self._recording.found.varying:
                    self.inputs.append((group, key, x))

    def _put_varying(self) -> None:
        found = self._recording.found
        for optimizer, owner, key, x in found.numbers:
            if (id(owner), key) not in found.varying:
                continue
            if self._is_told(optimizer, x):
                found.guard.equal(owner, key, x)
                continue
            owner[key] = self._recording.number(owner, key, None, x)
            self._there.append([owner, key, x, owner[key]])
            self.inputs.append((owner, key, x))

    def _is_told(self, optimizer: Any, x: Any) -> bool:
        """Whether a number has to be a condition."""
        tells = self._recording.formats if type(x) is float else self._tells
        return tells or not self._read[id(optimizer)] or abs(x) > _LARGEST

    def give_back(self, groups: list | None = None) -> None:
        """Put the numbers themselves in their places, in all groups or in those given."""
        for each in self._there:
            owner, key, x, number = each
            if groups is not None and not any(owner is other for other in groups):
                continue
            now = owner.get(key)
            if now is number:
                owner[key] = x
            elif type(x) is tuple or type(now) not in (TracedNumber, int, float):
                self._recording.refuse(f"it changes {key!r} of an optimizer")
                owner[key] = tuple(map(plain, now)) if type(now) is tuple else plain(now)
            else:
                self._note_change(owner, key, x, now)
            each[2] = each[3] = owner.get(key)
        if groups is None:
            mine = {(id(owner), key) for owner, key, *_ in self._there}
            for optimizer, owner, key, x in self._recording.found.numbers:
                if (id(owner), key) not in mine and not self._is_told(optimizer, x):
                    now = owner.get(key)
                    if type(now) is TracedNumber or (now != x and type(now) is type(x)):
                        self._note_change(owner, key, x, now)

    def _note_change(self, owner: Any, key: Any, x: Any, now: Any) -> None:
        recording, varying = self._recording, self._recording.found.varying
        owner[key] = plain(now)
        if type(owner[key]) is not type(x):
            recording.refuse(f"it changes the class of {key!r} of an optimizer")
        elif any(each.owner is owner and each.key == key for each in self.changes):
            recording.refuse(f"it changes {key!r} of an optimizer after a schedule")
        elif owner[key] != x and (id(owner), key) not in varying:
            varying[id(owner), key] = owner
            self.found_varying = True
            recording.refuse(f"it changes {key!r} of an optimizer", again=True)
        else:
            place = now.place if type(now) is TracedNumber else now
            self.changes.append(Change(owner, key, place))

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
        code = frame.f_code
        if code in self.receivers or not _READERS.isdisjoint(code.co_names):
            return True
        if not self.names.isdisjoint([x for x in code.co_consts if type(x) is str]):
            return True
        return any(map(has_number, frame.f_locals.values()))

    def are_there(self) -> bool:
        """Whether there are any."""
        return bool(self._there)

    def recorded_functions(self) -> Any:
        """A block in which `math.sqrt` and `math.pow` of these numbers are recorded."""
        return recorded_functions() if self._there else nullcontext()


def has_number(x: Any) -> bool:
    if type(x) in (tuple, list):
        return any(type(each) is TracedNumber for each in x)
    if type(x) is dict:
        return any(type(each) is TracedNumber for each in x.values())
    return type(x) is TracedNumber


class Change:
    """A number that a call has changed: where it is, and its place in the program, or itself."""

    def __init__(self, owner: Any, key: Any, place: Any):
        self.owner, self.key, self.place = owner, key, place
