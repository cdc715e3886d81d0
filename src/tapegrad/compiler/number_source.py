"""Numbers that a program computes in Python, as source: a count that an optimizer keeps."""

import math
import operator

from tapegrad.arrays.traced.program import Scalar
from tapegrad.compiler.sources import Uncompilable
from tapegrad.core.annotations import Any

_OPERATORS = frozenset(
    f"operator.{x}" for x in "add sub mul truediv pow mod floordiv neg abs".split()
) | {"max", "min", "math.sqrt"}

SCOPE = {"operator": operator, "math": math}
"""What `expression` names."""


def expression(place: Any, program: Any, inputs: dict[int, str]) -> str:
    """A number of the program as source, given that of its inputs by the ids of their places.

    Raises: Uncompilable where it is computed of more than numbers.
    """
    made = {id(x.result): x for x in program.instructions if isinstance(x.result, Scalar)}

    def text(x: Any) -> str:
        if not isinstance(x, Scalar):
            return f"float({str(x)!r})" if x != x or abs(x) == math.inf else repr(x)
        if id(x) in inputs:
            return inputs[id(x)]
        instruction = made.get(id(x))
        if instruction is None or instruction.text not in _OPERATORS:
            raise Uncompilable("it keeps a number that Python computes of a tensor")
        return f"{instruction.text}({', '.join(map(text, instruction.args))})"

    return text(place)
