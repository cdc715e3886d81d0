"""`TracedNumber`: a Python float whose arithmetic is written down.

Options of an optimiser, such as its learning rate, are such numbers while a step is recorded: a
schedule changes them from step to step, and the program is given them anew each time. What Python
decides by one is remembered, and asked again when the program runs.
"""

import math
import operator
from weakref import ref

from tapegrad.arrays.traced.program import RECORDING
from tapegrad.core.annotations import Any, Callable

SQRT, POW = math.sqrt, math.pow
_LARGEST = 2**31  # of the ints that are computed: their products are still exact as floats


class TracedNumber(float):
    """A float, or an int as one, and its place in a program.

    An int is told to whoever asks for more than arithmetic: C takes no number of this class as one.
    """

    __slots__ = ("__weakref__", "is_int", "place", "program")

    place: Any
    program: Any
    is_int: bool

    def __new__(cls, program: Any, x: float | None = None, place: Any = None) -> Any:
        if place is None:  # of whoever makes a number of the same class
            return float(program)
        found = super().__new__(cls, x)  # type: ignore[arg-type]
        found.program, found.place, found.is_int = program, place, type(x) is int
        program.numbers.append(ref(found))
        return found

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # what `isinstance` asks
        return int if self.is_int else TracedNumber

    def __getattr__(self, name: str) -> Any:
        if name in _OF_INTS and self.is_int:
            return getattr(int(self), name)
        raise AttributeError(f"'float' object has no attribute {name!r}")

    def __reduce__(self) -> Any:
        return (int if self.is_int else float), (_told(self),)

    def __copy__(self) -> "TracedNumber":
        return self

    def __deepcopy__(self, memo: dict) -> "TracedNumber":
        return self

    def __pos__(self) -> "TracedNumber":
        return self

    @property
    def real(self) -> float:
        return self

    def conjugate(self) -> float:
        return self

    def __bool__(self) -> bool:
        return self._expected("bool", bool(plain(self)))

    def __int__(self) -> int:
        return self._expected("int", int(plain(self)))

    def __index__(self) -> int:
        if not self.is_int:
            raise TypeError("'float' object cannot be interpreted as an integer")
        return int(self)

    def __invert__(self) -> int:
        if not self.is_int:
            raise TypeError("bad operand type for unary ~: 'float'")
        return ~int(self)

    # Whoever takes the number itself is told it, and the program asks whether it is the same again.

    def __float__(self) -> float:
        return self._expected("float", float(plain(self)))

    def __repr__(self) -> str:
        return repr(_told(self))

    def __format__(self, form: str) -> str:
        return format(_told(self), form)

    def __hash__(self) -> int:
        return hash(_told(self))

    def __round__(self, *digits: int) -> Any:
        return round(_told(self), *digits)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*[_told(x) for x in inputs], **kwargs)

    def _expected(self, text: str, found: Any) -> Any:
        if RECORDING.get() is self.program:
            self.program.note("expect", None, (text, self.place, found), {}, None)
        return found


def plain(x: Any) -> Any:
    """The number itself."""
    if type(x) is not TracedNumber:
        return x
    found = float.__pos__(x)
    return int(found) if x.is_int else found


def root(x: Any) -> Any:
    """`math.sqrt(x)`, also of a recorded number."""
    found = SQRT(plain(x))
    if type(x) is not TracedNumber or RECORDING.get() is not x.program:
        return found
    place = x.program.scalar()
    x.program.note("math.sqrt", SQRT, (x.place,), {}, place)
    return TracedNumber(x.program, found, place)


def power(x: Any, y: Any) -> Any:
    """`math.pow(x, y)`, also of recorded numbers."""
    if plain(x) > 0 and float in (type(plain(x)), type(plain(y))):
        return x**y
    return POW(_told(x), _told(y))


def larger(x: float, y: float) -> Any:
    """`max(x, y)`, which is no question that has to be answered the same way again."""
    return _of_two("max", max, x, y)


def smaller(x: float, y: float) -> Any:
    """`min(x, y)`."""
    return _of_two("min", min, x, y)


def _of_two(text: str, function: Callable, x: float, y: float) -> Any:
    found = function(plain(x), plain(y))
    traced = [each for each in (x, y) if type(each) is TracedNumber]
    if not traced or RECORDING.get() is not traced[0].program:
        return found
    program = traced[0].program
    place = program.scalar()
    program.note(text, function, (_place(x), _place(y)), {}, place)
    return TracedNumber(program, found, place)


def _told(x: Any) -> Any:
    if type(x) is not TracedNumber:
        return x
    return int(x) if x.is_int else float(x)


def _place(x: Any) -> Any:
    return x.place if type(x) is TracedNumber else x


def _is_told(name: str, x: Any, y: Any, found: Any) -> bool:
    """Whether operands are told: of others comes what is of another kind, or not exact."""
    of_ints = isinstance(x, int) and isinstance(y, int)
    if name in ("mod", "floordiv") and not of_ints:
        return True
    if name == "pow" and of_ints and (type(y) is TracedNumber or y < 0):
        return True
    return type(found) is complex or (type(found) is int and abs(found) > _LARGEST)


def _arithmetic(name: str) -> tuple[Callable, Callable]:
    """An operator of Python, and the same with its operands exchanged."""
    function = getattr(operator, name)

    def compute(x: Any, y: Any) -> Any:
        program = x.program if type(x) is TracedNumber else y.program
        found = function(plain(x), plain(y))
        if RECORDING.get() is not program:
            return found
        if _is_told(name, x, y, found):
            return function(_told(x), _told(y))
        place = program.scalar()
        program.note(f"operator.{name}", function, (_place(x), _place(y)), {}, place)
        return TracedNumber(program, found, place)

    def forward(self: Any, other: Any) -> Any:
        return compute(self, other) if isinstance(other, (float, int)) else NotImplemented

    def reverse(self: Any, other: Any) -> Any:
        return compute(other, self) if isinstance(other, (float, int)) else NotImplemented

    return forward, reverse


def _comparison(name: str) -> Callable:
    function = getattr(operator, name)

    def compare(self: Any, other: Any) -> Any:
        if not isinstance(other, (float, int)):
            return NotImplemented
        found = function(plain(self), plain(other))
        if RECORDING.get() is self.program:
            asked = f"operator.{name}", (self.place, _place(other)), found
            self.program.note("expect", None, asked, {}, None)
        return found

    return compare


for _name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv"):
    _forward, _reverse = _arithmetic(_name)
    setattr(TracedNumber, f"__{_name}__", _forward)
    setattr(TracedNumber, f"__r{_name}__", _reverse)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(TracedNumber, f"__{_name}__", _comparison(_name))


def _of_told(name: str) -> Callable:
    """A method that is given the numbers themselves."""

    def method(self: Any, *args: Any) -> Any:
        x = _told(self)
        kind: Any = type(x) if hasattr(type(x), name) else float
        return getattr(kind, name)(x, *map(_told, args))

    return method


_OF_INTS = frozenset("bit_count bit_length denominator numerator to_bytes".split())
_OF_BITS = "and or xor lshift rshift rand ror rxor rlshift rrshift".split()
for _name in "as_integer_ratio __ceil__ __divmod__ __floor__ hex is_integer __rdivmod__".split():
    setattr(TracedNumber, _name, _of_told(_name))
TracedNumber.__trunc__ = _of_told("__trunc__")  # type: ignore[method-assign]


def _of_bits(name: str) -> Callable:
    """An operator that ints have and floats have not."""
    method = getattr(int, name)

    def compute(self: Any, other: Any) -> Any:
        return method(int(self), _told(other)) if self.is_int else NotImplemented

    return compute


for _name in _OF_BITS:
    setattr(TracedNumber, f"__{_name}__", _of_bits(f"__{_name}__"))


def _unary(name: str) -> Callable:
    function = getattr(operator, name)

    def compute(self: Any) -> Any:
        found = function(plain(self))
        if RECORDING.get() is not self.program:
            return found
        place = self.program.scalar()
        self.program.note(f"operator.{name}", function, (self.place,), {}, place)
        return TracedNumber(self.program, found, place)

    return compute


TracedNumber.__neg__ = _unary("neg")  # type: ignore[method-assign]
TracedNumber.__abs__ = _unary("abs")  # type: ignore[method-assign]
