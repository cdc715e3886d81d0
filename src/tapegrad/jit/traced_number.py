"""Numbers that a trace follows: sizes of tensors, and what is computed from them."""

from __future__ import annotations

import operator

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.tensor_base import TensorBase


class TracedNumber:
    """A number, where it comes from in a trace, and the recorder that keeps it.

    Arithmetic is recorded. Where Python asks for the number itself, as `range` and `if` do, the
    trace has it as a constant from then on, and warns.
    """

    __slots__ = ("recorder", "value")
    stays_in_sizes = True
    __hash__ = object.__hash__  # by identity, as the tensors that PyTorch has in its place

    def __init__(self, value: Any, recorder: Any):
        self.value, self.recorder = value, recorder

    def _with(self, function: Callable, *args: Any) -> Any:
        if any(isinstance(x, TensorBase) for x in args):
            return NotImplemented
        return self.recorder.number(function, args)

    def __add__(self, other: Any) -> Any:
        return self._with(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._with(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._with(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._with(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._with(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._with(operator.mul, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Any:
        return self._with(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._with(operator.mod, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._with(operator.pow, self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._with(operator.pow, other, self)

    def __neg__(self) -> Any:
        return self._with(operator.neg, self)

    def __abs__(self) -> Any:
        return self._with(operator.abs, self)

    def __eq__(self, other: Any) -> Any:
        return self._with(operator.eq, self, other)

    def __ne__(self, other: Any) -> Any:
        return self._with(operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return self._with(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return self._with(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._with(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(operator.ge, self, other)

    def __bool__(self) -> bool:
        self.recorder.reads("boolean")
        return bool(self.value)

    def __int__(self) -> int:
        self.recorder.reads("integer")
        return int(self.value)

    def __float__(self) -> float:
        self.recorder.reads("float")
        return float(self.value)

    def __index__(self) -> int:
        self.recorder.reads("index")
        return operator.index(self.value)

    def item(self) -> Any:
        """The number itself."""
        self.recorder.reads("number")
        return self.value

    def __repr__(self) -> str:
        return repr(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)
