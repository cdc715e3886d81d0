"""`Form`: how an instruction is written so that its result lands in memory that is there."""

from tapegrad.arrays.traced.program import Scalar
from tapegrad.core.annotations import Any, Callable


class Form:
    """A statement or several, with places for operands and for the memory of the result.

    Attributes:
        lines: `{0}`, `{1}`, ... are operands, `{out}` is the memory of the result, `{name}` one of
            the functions
        operands: Values, Constants, Casts and plain numbers
        functions: what the lines call
        elementwise: an element of the result depends on those at its place alone, so that parts
            of the arrays can be worked on
        pointwise: the bits are the same where the result takes the memory of an operand
        number: an expression of NumPy numbers for the same, where all operands are 0-d
        numbers: the operands of that expression: Values, Scalars and Python numbers
    """

    __slots__ = (
        *("elementwise", "functions", "lines", "number", "numbers", "operands", "pointwise"),
    )

    def __init__(
        self,
        lines: str | tuple[str, ...],
        operands: tuple,
        functions: dict[str, Callable] | None = None,
        pointwise: bool = False,
        number: str | None = None,
        numbers: tuple = (),
        elementwise: bool | None = None,  # as `pointwise`
    ):
        self.lines = (lines,) if type(lines) is str else lines
        self.operands: tuple[Any, ...] = operands
        self.functions = functions or {}
        self.elementwise = pointwise if elementwise is None else elementwise
        self.pointwise = pointwise
        self.number, self.numbers = number, numbers

    @property
    def is_assignment(self) -> bool:
        """Whether it is one of an element, where operands may be numbers."""
        return bool(self.lines) and self.lines[0].startswith("{out}[()]")


class Cast:
    """A Python number of the program as an array of the dtype that a loop computes in."""

    __slots__ = ("dtype", "scalar")

    def __init__(self, scalar: Scalar, dtype: Any):
        self.scalar, self.dtype = scalar, dtype

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cast):
            return NotImplemented
        return self.scalar is other.scalar and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.scalar, self.dtype))
