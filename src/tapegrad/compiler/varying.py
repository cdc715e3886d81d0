"""Which numbers of optimizers are others in each call: what is known from one call to the next."""

from collections import deque
from hashlib import blake2b

import numpy as np

from tapegrad.arrays.traced.program import Constant, Scalar, Value
from tapegrad.core.annotations import Any

_MOST_DRAFTS = 8


class Varying:
    """What is known of numbers in groups and state from one recorded call to the next.

    What Python decides by a number is asked again by the program. Where a number left the record
    without a word, the program has a constant that is computed of it. So a program is made only
    where two calls with different numbers were recorded alike, with all their constants.

    Attributes:
        places: those that are others in each call: their owners, by their identities and the keys
    """

    def __init__(self) -> None:
        self.places: dict[tuple, Any] = {}
        self._seen: dict[tuple, tuple] = {}
        self._drafts: deque[tuple] = deque(maxlen=_MOST_DRAFTS)
        self._in_vain = 0  # calls that were recorded since a program was made

    def look_at(self, numbers: list) -> bool:
        """Note what numbers there are; whether some are found to be others than before."""
        before = len(self.places)
        for _, owner, key, x in numbers:
            at = id(owner), key
            if at in self._seen and self._seen[at][1] != x:
                self.places[at] = owner
            self._seen[at] = owner, x  # which keeps the owner's identity
        return len(self.places) > before

    def confirm(self, recording: Any) -> None:
        """Refuse what is recorded unless a call was before that is the same but for the numbers.

        Raises: Uncompilable where many calls in turn are different.
        """
        options = recording.options
        if not options.inputs and not options.changes and not options.found_varying:
            return
        if recording.why_not and not recording.again:
            return
        if not recording.why_not and self._is_known(recording):
            self._in_vain = 0
            return
        self._in_vain += 1
        if self._in_vain > _MOST_DRAFTS:
            changed = [(x.owner, x.key) for x in options.changes]
            owner, key = [*[x[:2] for x in options.inputs], *changed, (None, None)][0]
            where = recording.found.guard.called(owner, key) if owner is not None else "a number"
            recording.why_not, recording.again = "", False
            recording.refuse(f"what it computes depends on {where}, another one in each call")
        recording.refuse("its numbers may be conditions", again=True)

    def _is_known(self, recording: Any) -> bool:
        draft, inputs = _described(recording), recording.options.inputs
        values = tuple([x for *_, x in inputs])
        for before in [each[1] for each in self._drafts if each[0] == draft]:
            pairs = list(zip(before, values, strict=True))
            if all(x != y for x, y in pairs):
                return True
            # what has not changed is a condition, until it changes again
            for (owner, key, _), (x, y) in zip(inputs, pairs, strict=True):
                if x == y:
                    self.places.pop((id(owner), key), None)
        self._drafts.append((draft, values))
        return False


def _described(recording: Any) -> tuple:
    """All that is computed, with the constants it is computed of."""
    program = recording.program
    return tuple(
        [
            (each.text, _form(each.args), _form(sorted(each.kwargs.items())), _form(each.result))
            for each in program.instructions
        ]
        + [_constant(x) for x in program.constants]
        + [(id(x.owner), x.key, repr(x.place)) for x in recording.options.changes]
        + [(id(owner), key) for owner, key, _ in recording.options.inputs]
    )


def _form(x: Any) -> Any:
    if isinstance(x, Value):
        return x.number, x.shape, x.dtype.str, x.strides, x.root.number, x.offset
    if isinstance(x, (Scalar, Constant)):
        return repr(x)
    if isinstance(x, (tuple, list)):
        return type(x).__name__, *[_form(each) for each in x]
    return type(x).__name__, repr(x)


def _constant(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x.shape, x.dtype.str, blake2b(x.tobytes()).digest()
    return id(x)
