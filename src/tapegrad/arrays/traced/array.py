"""`Traced`: an array that writes down what is computed with it.

It holds the numbers, on which each operation runs at once, and its place in the program that is
recorded. Whoever asks for a number of it (`bool`, `item`) is given the true one, and the program
remembers which one that was. Its memory is handed to nobody: what left the record would be a
constant of the program that nothing says is one.
"""

import numpy as np

from tapegrad.arrays.traced import record as recording
from tapegrad.arrays.traced.number import TracedNumber
from tapegrad.arrays.traced.program import RECORDING
from tapegrad.arrays.traced.record import record
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Sequence

_FEW = 64  # numbers of which each goes on by itself where a list of them is asked for


class Traced:
    """An array, and its value in a program.

    Where `is_number` the program has a number of NumPy in its place: nobody has a view of it yet,
    and nobody writes into it.
    """

    __slots__ = ("__weakref__", "array", "is_number", "place", "program")

    def __init__(self, program: Any, array: Array, place: Any):
        self.program, self.place = program, place
        self.is_number = type(array) is not np.ndarray and isinstance(array, np.generic)
        self.array = np.asarray(array) if self.is_number else array

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        from tapegrad.arrays.traced import namespace

        return namespace

    def __repr__(self) -> str:
        return repr(self.array)  # as it stands in messages of errors

    def __str__(self) -> str:
        return str(self.array)

    # --- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Any:
        return self.array.shape

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def size(self) -> int:
        return self.array.size

    @property
    def itemsize(self) -> int:
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    @property
    def strides(self) -> Any:
        return self.array.strides

    @property
    def flags(self) -> Any:
        return self.array.flags

    @property
    def base(self) -> Any:
        return getattr(self.array, "base", None)

    @property
    def ctypes(self) -> Any:
        return self.array.ctypes

    @property
    def __array_interface__(self) -> dict:
        return self.array.__array_interface__

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self.array))])

    # --- numbers that Python reads ---------------------------------------------------------------

    def _read(self, text: str, function: Callable) -> Any:
        found = function(self.array)
        if RECORDING.get() is self.program:
            self.program.note("expect", None, (text, self.place, found), {}, None)
        return found

    def item(self) -> Any:
        found = self.array.item()
        traces = self.program.owner is None or self.program.owner.traces_items
        if type(found) is float and traces and RECORDING.get() is self.program:  # it goes on
            place = self.program.scalar()
            self.program.note(".item", None, (self.place,), {}, place)
            return TracedNumber(self.program, found, place)
        return self._read(".item()", lambda x: x.item())

    def tolist(self) -> Any:
        traces = self.program.owner is None or self.program.owner.traces_items
        if self.array.dtype.kind == "f" and self.array.size <= _FEW and traces:
            return [x.tolist() for x in self] if self.array.ndim else self.item()
        return self._read(".tolist()", lambda x: x.tolist())

    def __bool__(self) -> bool:
        return self._read("bool", bool)

    def __int__(self) -> int:
        return self._read("int", int)

    def __index__(self) -> int:
        return self._read("int", lambda x: x.__index__())

    def __float__(self) -> float:
        return self._read("float", float)

    def __complex__(self) -> complex:
        return self._read("complex", complex)

    def __dlpack__(self, **options: Any) -> Any:
        return np.asarray(self._handed_out()).__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return np.asarray(self.array).__dlpack_device__()

    def _handed_out(self) -> Any:
        """The array itself, which nobody can follow from here on."""
        if self.program.owner is None:
            return self.__array__()
        self.program.owner.refuse("the numbers of a tensor are printed, or given to NumPy")
        return self.array

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        if self.program.owner is not None:
            return np.asarray(self._handed_out(), *args, **kwargs)
        raise errors.runtime_error(
            "The memory of an array that is being recorded was asked for",
            "Compute with the functions of its namespace: what NumPy makes of it is not recorded.",
        )

    # --- NumPy hands over ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        text = f"np.{ufunc.__name__}"
        if method == "__call__":
            return record(text, ufunc, inputs, kwargs)
        return record(f"{text}.{method}", getattr(ufunc, method), inputs, kwargs)

    def __array_function__(
        self, function: Callable, types: Any, args: Sequence, kwargs: Any
    ) -> Any:
        module = function.__module__.replace("numpy", "np", 1)
        return record(f"{module}.{function.__name__}", function, tuple(args), kwargs)

    # --- methods ---------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """A method of NumPy's arrays, recorded."""
        if name.startswith("_") or not callable(getattr(np.ndarray, name, None)):
            raise AttributeError(f"an array that is being recorded has no {name}")
        return lambda *args, **kwargs: _method(name, self, args, kwargs)

    @property
    def T(self) -> Any:
        return self.transpose()

    @property
    def mT(self) -> Any:
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Any:
        return record("np.real", np.real, (self,), {})

    @property
    def imag(self) -> Any:
        return record("np.imag", np.imag, (self,), {})

    def __getitem__(self, key: Any) -> Any:
        return record("getitem", None, (self, key), {}, lambda x, key: x[key])

    def __setitem__(self, key: Any, x: Any) -> None:
        record("setitem", None, (self, key, x), {}, _set)


recording.TRACED = Traced


def _set(array: Any, key: Any, x: Any) -> None:
    array[key] = x


def _method(name: str, x: Traced, args: tuple, kwargs: dict) -> Any:
    return record(
        f".{name}", None, (x, *args), kwargs, lambda x, *args, **kw: getattr(x, name)(*args, **kw)
    )


def _binary(ufunc: Any) -> tuple[Callable, Callable, Callable]:
    """A Python operator, the same with its operands exchanged, and the same in place."""
    text = f"np.{ufunc.__name__}"

    def forward(self: Any, other: Any) -> Any:
        return record(text, ufunc, (self, other), {})

    def reverse(self: Any, other: Any) -> Any:
        return record(text, ufunc, (other, self), {})

    def in_place(self: Any, other: Any) -> Any:
        return record(text, ufunc, (self, other), {"out": self})

    return forward, reverse, in_place


_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "matmul": np.matmul,
}
for _name, _ufunc in _BINARY.items():
    _forward, _reverse, _in_place = _binary(_ufunc)
    setattr(Traced, f"__{_name}__", _forward)
    setattr(Traced, f"__r{_name}__", _reverse)
    if _name != "matmul":
        setattr(Traced, f"__i{_name}__", _in_place)
for _name, _ufunc in {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}.items():
    setattr(Traced, f"__{_name}__", _binary(_ufunc)[0])
Traced.__hash__ = object.__hash__  # type: ignore[method-assign]
for _name, _ufunc in {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}.items():
    setattr(
        Traced,
        f"__{_name}__",
        lambda self, ufunc=_ufunc: record(f"np.{ufunc.__name__}", ufunc, (self,), {}),
    )
