"""The lines of a program: one for each instruction, in its form or as it was recorded."""

from tapegrad.arrays.traced.program import Instruction, Scalar, Value
from tapegrad.arrays.traced.record import Read
from tapegrad.arrays.traced.source import expect
from tapegrad.compiler.numpy_backend.block import Block, arguments, values_in
from tapegrad.compiler.numpy_backend.form import Cast, Form
from tapegrad.compiler.numpy_backend.layout import Layout
from tapegrad.compiler.numpy_backend.naming import Names
from tapegrad.core.annotations import Any

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**"}


class Lines:
    """Writes instructions down.

    Attributes:
        numbers_as_arrays: numbers that have to be there as 0-d arrays, too
    """

    def __init__(self, block: Block, layout: Layout, names: Names, inside: Any = None):
        self.block, self.layout, self.names = block, layout, names
        self._inside = inside  # of a chain, where other memory stands for values
        self.casts = self._find_casts()
        self.numbers_as_arrays = {
            x
            for each, form in layout.forms.items()
            if each.result not in layout.numbers and not form.is_assignment
            for x in values_in(form.operands)
            if x in layout.numbers
        }

    def _find_casts(self) -> dict[Scalar, list[Cast]]:
        """The arrays that Python's numbers have to be there as."""
        casts: dict[Scalar, list[Cast]] = {}
        for each, form in self.layout.forms.items():
            for x in form.operands:
                if isinstance(x, Cast) and each.result not in self.layout.numbers:
                    found = casts.setdefault(x.scalar, [])
                    if x not in found:
                        found.append(x)
        return casts

    def cast(self, scalar: Any) -> list[str]:
        """Lines that write a number of Python's where arrays of it are read."""
        value = self.names.value
        return [
            f"{value(scalar, suffix(x.dtype))}[()] = {value(scalar)}"
            for x in self.casts.get(scalar, ())
        ]

    def of(self, each: Instruction) -> list[str]:
        """The lines of an instruction."""
        lines = self._of(each)
        return lines + self.cast(each.result) if isinstance(each.result, Scalar) else lines

    def _of(self, each: Instruction) -> list[str]:
        form = self.layout.forms.get(each)
        if form is not None:
            return self._formed(each, form)
        if each.text == "expect":
            return [self._expected(*each.args)]
        if each.text == "setitem":
            target, key, x = each.args
            text = self.names.text
            return [f"{text(target)}[{self.names.key(key)}] = {text(x)}"]
        return self._as_recorded(each)

    def _formed(self, each: Instruction, form: Form) -> list[str]:
        names, result = self.names, each.result
        called = {name: names.function(name, x) for name, x in form.functions.items()}
        if result in self.layout.numbers or (form.number and "out" in each.kwargs):
            return self._number(result, form, called)
        kind = self._array if not form.is_assignment else names.text
        operands = [kind(x) for x in form.operands]
        if "out" in each.kwargs and result in self.layout.spares:
            out, spare = names.value(result), names.value(result, "_spare")
            line = form.lines[0].format(*operands, out=spare, **called)
            return [line, f"{out}[...] = {spare}"]
        out = self._array(result)
        return [line.format(*operands, out=out, **called) for line in form.lines]

    def _array(self, x: Any) -> str:
        if self._inside is not None and isinstance(x, Value) and x.shape:
            return self._inside.name(x, self.names)
        if isinstance(x, Cast):
            return self.names.value(x.scalar, suffix(x.dtype))
        return self.names.value(x, "_0d") if x in self.numbers_as_arrays else self.names.text(x)

    def _number(self, result: Value, form: Form, called: dict[str, str]) -> list[str]:
        """A line of NumPy numbers; arrays among the operands are read first."""
        names, lines, operands = self.names, [], []
        assert form.number is not None
        for x in form.numbers:
            if not isinstance(x, Value) or x in self.layout.numbers:
                operands.append(names.text(x))
                continue
            operands.append(names.value(x, "_number"))
            lines.append(f"{operands[-1]} = {names.value(x)}[()]")
        if result not in self.layout.numbers:
            lines.append(f"{names.value(result)}[()] = {form.number.format(*operands, **called)}")
            return lines
        lines.append(f"{names.value(result)} = {form.number.format(*operands, **called)}")
        if result in self.numbers_as_arrays:
            lines.append(f"{names.value(result, '_0d')}[()] = {names.value(result)}")
        return lines

    def _expected(self, how: str, value: Any, recorded: Any) -> str:
        text = self.names.text
        values = value if type(value) is tuple else (value,)
        if how[0] == ".":
            asked = f"{text(value)}{how}"
        elif how.startswith("operator."):
            self.names.scope["operator"] = __import__("operator")
            asked = f"{how}({', '.join(map(text, values))})"
        else:
            asked = f"{how}({', '.join(map(text, values))})"
        self.names.scope["expect"] = expect
        return f"expect({asked}, {text(recorded)}, {asked!r})"

    def _as_recorded(self, each: Instruction) -> list[str]:
        names, args = self.names, [self._given(x) for x in each.args]
        given = args + [f"{k}={self._given(x)}" for k, x in each.kwargs.items()]
        first, _, operator = each.text.partition(".")
        if each.text == "getitem":
            call = f"{args[0]}[{names.key(each.args[1])}]"
        elif each.text[0] == ".":
            call = f"{args[0]}{each.text}({', '.join(given[1:])})"
        elif first == "operator" and operator in _SIGNS:
            left = f"({args[0]})" if args[0][0] == "-" else args[0]  # -1 ** 2 is -(1 ** 2)
            call = f"{left} {_SIGNS[operator]} {args[1]}"
        elif each.text == "operator.neg":
            call = f"-{args[0]}"
        else:
            name = names.function(each.text, self.block.functions[each.text])
            call = f"{name}({', '.join(given)})"
        checks: list[str] = []
        self._given_to = set(arguments(each))
        target = self._target(each.result, call, checks)
        return [call if target is None else f"{target} = {call}", *checks]

    def _given(self, x: Any) -> str:
        """An argument of a call as recorded: what was a number there is one here."""
        text = self.names.text(x)
        return f"{text}[()]" if isinstance(x, Value) and x in self.layout.scalars else text

    def _target(self, result: Any, call: str, checks: list[str]) -> str | None:
        """What the results are assigned to; None where there are none."""
        if result is None:
            return None
        if type(result) is tuple:
            parts = [self._target(x, call, checks) or "_" for x in result]
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        if isinstance(result, Read):
            name = self.names.new("read")
            self.names.scope["expect"] = expect
            checks.append(f"expect({name}, {self.names.text(result.number)}, {call!r})")
            return name
        if result in self._given_to:  # what it was given, given back
            return "_"
        return self.names.value(result)


def suffix(dtype: Any) -> str:
    """What the name of a number has after it where it is an array of this dtype."""
    return f"_{dtype.kind}{8 * dtype.itemsize}"
