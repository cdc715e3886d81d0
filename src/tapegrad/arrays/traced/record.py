"""Running one call on plain arrays and writing it down."""

from functools import cache, wraps

import numpy as np

from tapegrad.arrays.traced.number import TracedNumber
from tapegrad.arrays.traced.number import plain as plain_number
from tapegrad.arrays.traced.program import RECORDING, Program, unwatched
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable

_PLAIN = frozenset([bool, int, float, complex, str, bytes, type(None), type(Ellipsis)])

TRACED: Any = None
"""The class of recorded arrays, which its module sets."""


def record(
    text: str, function: Callable | None, args: tuple, kwargs: dict, run: Callable | None = None
) -> Any:
    """The result of a call, whose arrays are recorded; the call is written down.

    `text` is how the call is written: the name of `function`, `.name` for a method, `getitem` or
    `setitem`; `run` does the same where there is no function of that name.
    """
    program = RECORDING.get()
    if program is None or program.rests:
        return _record(program, text, function, args, kwargs, run)
    return unwatched(program, _record, (program, text, function, args, kwargs, run))


def _record(
    program: Any, text: str, function: Callable | None, args: tuple, kwargs: dict, run: Any
) -> Any:
    known: dict[int, Any] = {}
    plain = [_plain(x, known) for x in args]
    plain_kwargs = {k: _plain(x, known) for k, x in kwargs.items()} if kwargs else kwargs
    if program is None or any([x.program is not program for x in known.values()]):
        # it is over: what a graph has kept of it still computes
        return (run or function)(*plain, **plain_kwargs)  # type: ignore[misc]
    if kwargs and type(kwargs.get("out")) is np.ndarray and program.owner is not None:
        program.owner.refuse(f"{text} writes to memory that is no tensor's of the call")
    out = (run or function)(*plain, **plain_kwargs)  # type: ignore[misc]
    for x in known.values():
        if x.is_number and (text in _WRITERS or _shares(out, x.array)):
            _keep_in_memory(program, x)
    placed = tuple([place_of(program, x) for x in args])
    placed_kwargs = {k: place_of(program, x) for k, x in kwargs.items()} if kwargs else kwargs
    found, result = _traced(program, out, known, text)
    program.note(text, function, placed, placed_kwargs, result)
    if is_sized_by_data(text, plain):
        for x in found if isinstance(found, (tuple, list)) else (found,):
            program.note("expect", None, (".shape", x.place, x.shape), {}, None)
    return found


_SIZED_BY_DATA = frozenset(
    "xp.nonzero np.nonzero np.flatnonzero np.argwhere np.unique xp.unique_all xp.unique_counts "
    "xp.unique_inverse xp.unique_values np.compress np.extract np.repeat xp.repeat np.bincount "
    "np.delete np.intersect1d np.union1d np.setdiff1d .nonzero .compress .repeat".split()
)
"""How many numbers these give depends on numbers: it has to be the same again."""

PREPARED = "xp.prepared."
"""What the texts of such functions of operators begin with."""


def record_prepared(function: Callable, args: tuple) -> Any:
    """The recorded result of an operator's function of plain arrays, with memory of its own."""
    return record(f"{PREPARED}{function.__name__}", _owning(function), args, {})


@cache
def _owning(function: Callable) -> Callable:
    """The function, which gives copies of views: the shape of a view is asked for by nobody."""

    @wraps(function)
    def run(*args: Any) -> Any:
        found = function(*args)
        if isinstance(found, tuple):
            return tuple([_owned(x, args) for x in found])
        return _owned(found, args)

    return run


def _owned(x: np.ndarray, args: tuple) -> np.ndarray:
    return x.copy() if x.base is not None or any(x is each for each in args) else x


_WRITERS = frozenset("setitem np.copyto .fill np.put np.place np.putmask .put .itemset".split())


def _shares(out: Any, array: Any) -> bool:
    """Whether a result is an array, or a part of it."""
    if isinstance(out, (tuple, list)):
        return any(_shares(each, array) for each in out)
    return isinstance(out, np.ndarray) and np.may_share_memory(out, array)


def _keep_in_memory(program: Program, x: Any) -> None:
    """Make an array of a number that NumPy gave: eager tensors have it in memory."""
    before, x.place, x.is_number = x.place, program.place(x.array), False
    program.note("np.asarray", np.asarray, (before,), {}, x.place)


def is_sized_by_data(text: str, args: Any) -> bool:
    """Whether the shape of what a call gives depends on numbers."""
    return _is_sized(text) or (text == "getitem" and _has_mask(args[1]))


@cache
def _is_sized(text: str) -> bool:
    return text in _SIZED_BY_DATA or text.startswith(PREPARED)


def _has_mask(key: Any) -> bool:
    """Whether an index has a mask, which says by its numbers what it takes."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(getattr(x, "dtype", None) == np.dtype(bool) for x in parts)


def _plain(x: Any, known: dict) -> Any:
    """An argument with plain arrays in the place of recorded ones, which `known` collects."""
    kind = type(x)
    if kind is TRACED:
        known[id(x.array)] = x
        return x.array
    if kind in _PLAIN:
        return x
    if isinstance(x, (tuple, list)):
        found = [_plain(each, known) for each in x]
        return kind(*found) if hasattr(x, "_fields") else kind(found)
    if isinstance(x, dict):
        return {k: _plain(each, known) for k, each in x.items()}
    if kind is slice:
        return slice(*[_plain(each, known) for each in (x.start, x.stop, x.step)])
    return plain_number(x)


def place_of(program: Program, x: Any) -> Any:
    """An argument as a program keeps it: a `Value`, a `Constant`, or a plain Python object."""
    kind = type(x)
    if kind is TRACED or kind is TracedNumber:
        return x.place
    if kind in _PLAIN:
        return x
    if kind is tuple or kind is list:
        return kind([place_of(program, each) for each in x])
    if kind is slice:
        return slice(*[place_of(program, each) for each in (x.start, x.stop, x.step)])
    return program.constant(x)


def _traced(program: Program, out: Any, known: dict, text: str) -> tuple[Any, Any]:
    """A result as recorded arrays, and as the values that an instruction keeps."""
    if out is None:
        return None, None
    if isinstance(out, (np.ndarray, np.generic)):
        # NumPy has but one True and one False: being the same object says nothing of those
        same = known.get(id(out)) if isinstance(out, np.ndarray) else None
        if same is not None:
            return same, same.place
        value = program.place(out)
        return program.array(out, value), value
    if isinstance(out, (tuple, list)):
        pairs = [_traced(program, each, known, text) for each in out]
        found = [x for x, _ in pairs]
        whole = type(out)(*found) if hasattr(out, "_fields") else type(out)(found)
        return whole, tuple([value for _, value in pairs])
    if type(out) in _PLAIN or isinstance(out, (np.dtype, type)):
        return out, Read(out)
    raise errors.runtime_error(
        f"{text} gave a {type(out).__name__}, which cannot be recorded",
        "Only arrays, numbers and tuples of them can.",
    )


def in_order(rule: Callable) -> Callable:
    """A rule of the order in which results lie in memory; it is written down where it copies."""

    def ordered(results: Any, operands: Any, params: Any) -> Any:
        known: dict[int, Any] = {}
        plain = _plain(results, known)
        found = rule(plain, _plain(list(operands), {}), params)
        several = isinstance(found, (tuple, list))
        pairs = zip(found, plain, strict=True) if several else [(found, plain)]
        if all(a is b for a, b in pairs):
            return results
        return record(f"order.{rule.__name__}", rule, (results, list(operands), params), {})

    return ordered


class Read:
    """A plain number among the results of an instruction: the recorded computation has seen it."""

    __slots__ = ("number",)

    def __init__(self, number: Any):
        self.number = number
