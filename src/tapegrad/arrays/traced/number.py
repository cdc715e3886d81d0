"""`TracedNumber`: a Python float whose arithmetic is written down.

Options of an optimiser, such as its learning rate, are such numbers while a step is recorded: a
schedule changes them from step to step, and the program is given them anew each time. What Python
decides by one is remembered, and asked again when the program runs.
"""

import operator
from weakref import ref

from tapegrad.arrays.traced.program import RECORDING
from tapegrad.core.annotations import Any, Callable


class TracedNumber(float):
    """A float, and its place in a program."""

    __slots__ = ("__weakref__", "place", "program")

    place: Any
    program: Any

    def __new__(cls, program: Any, x: float | None = None, place: Any = None) -> Any:
        if place is None:  # of whoever makes a number of the same class
            return float(program)
        found = super().__new__(cls, x)  # type: ignore[arg-type]
        found.program, found.place = program, place
        program.numbers.append(ref(found))
        return found

    def __reduce__(self) -> Any:
        return float, (float(self),)

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

    # Whoever takes the number itself is told it, and the program asks whether it is the same again.

    def __float__(self) -> float:
        return self._expected("float", plain(self))

    def __repr__(self) -> str:
        return repr(float(self))

    def __format__(self, form: str) -> str:
        return format(float(self), form)

    def __hash__(self) -> int:
        return hash(float(self))

    def __round__(self, *digits: int) -> Any:
        return round(float(self), *digits)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*[_told(x) for x in inputs], **kwargs)

    def _expected(self, text: str, found: Any) -> Any:
        if RECORDING.get() is self.program:
            self.program.note("expect", None, (text, self.place, found), {}, None)
        return found


def plain(x: Any) -> Any:
    """The float itself."""
    return float.__pos__(x) if type(x) is TracedNumber else x


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
    return float(x) if type(x) is TracedNumber else x


def _place(x: Any) -> Any:
    return x.place if type(x) is TracedNumber else x


def _arithmetic(name: str) -> tuple[Callable, Callable]:
    """An operator of Python, and the same with its operands exchanged."""
    function = getattr(operator, name)

    def compute(x: Any, y: Any) -> Any:
        program = x.program if type(x) is TracedNumber else y.program
        found = function(plain(x), plain(y))
        if RECORDING.get() is not program:
            return found
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


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _forward, _reverse = _arithmetic(_name)
    setattr(TracedNumber, f"__{_name}__", _forward)
    setattr(TracedNumber, f"__r{_name}__", _reverse)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(TracedNumber, f"__{_name}__", _comparison(_name))


def _of_told(name: str) -> Callable:
    """A method of floats that is given the number itself."""
    method = getattr(float, name)
    return lambda self, *args: method(float(self), *map(_told, args))


for _name in (
    "as_integer_ratio __ceil__ __divmod__ __floor__ __floordiv__ hex is_integer __mod__ "
    "__rdivmod__ __rfloordiv__ __rmod__ __trunc__"
).split():
    setattr(TracedNumber, _name, _of_told(_name))


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
