"""Signatures of operators as they are written: `mylib::scale(Tensor x, float by=1.) -> Tensor`."""

import re
from typing import Any

from tapegrad.core import errors
from tapegrad.core.dtype import dtype as Dtype

# The kinds of values, by the names that they have in a signature, and what each is in Python.
_KINDS = {
    "Any": "Any",
    "Device": "Device",
    "Dimname": "Dimname",
    "Generator": "Generator",
    "Layout": "int",
    "MemoryFormat": "int",
    "QScheme": "QScheme",
    "Scalar": "number",
    "ScalarType": "int",
    "Storage": "Storage",
    "Stream": "Stream",
    "SymInt": "int",
    "Tensor": "Tensor",
    "bool": "bool",
    "complex": "complex",
    "float": "float",
    "int": "int",
    "str": "str",
}
_TOKEN = re.compile(
    r"\s*(->|::|[A-Za-z_][A-Za-z_0-9.]*|-?\d+\.?\d*(?:[eE][-+]?\d+)?|-?inf|nan|"
    r""""[^"]*"|'[^']*'|\S)"""
)
_NAMES = {"->": "arrow", "": "eof"}


class Type:
    """The type of an argument or a result.

    `name` is that of its elements, `layers` what is around them, from the inside out: "?" for one
    that may be None, "[]" or "[2]" for a list.
    """

    def __init__(self, name: str, layers: tuple[str, ...] = ()):
        self.name = name
        self.layers = layers

    @property
    def annotation_str(self) -> str:
        """The type in Python's words: `Optional[List[int]]`."""
        return self._in_words(_KINDS[self.name])

    def _in_words(self, text: str) -> str:
        for layer in self.layers:
            text = f"Optional[{text}]" if layer == "?" else f"List[{text}]"
        return text

    def real(self) -> str:
        """The same with the name that the signature has: `Optional[ScalarType]`."""
        return self._in_words("number" if self.name == "Scalar" else self.name)

    def kind(self) -> str:
        """What PyTorch calls a type of this form: `TensorType`, `ListType`, `OptionalType`."""
        if self.layers:
            return "OptionalType" if self.layers[-1] == "?" else "ListType"
        known = _KINDS[self.name]
        return {"str": "StringType", "number": "NumberType"}.get(known, f"{known.title()}Type")

    @property
    def is_list(self) -> bool:
        """Whether the value is a list, or None."""
        return any(layer != "?" for layer in self.layers)

    @property
    def has_tensors(self) -> bool:
        """Whether a value is or has tensors."""
        return self.name == "Tensor"

    def written(self, mark: str = "") -> str:
        """As it stands in a signature, with the mark of what it shares memory with."""
        name, layers = self.name + mark, self.layers
        return name + "".join(layers)

    def __str__(self) -> str:
        return self.annotation_str

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Type) and (self.name, self.layers) == (other.name, other.layers)

    def __hash__(self) -> int:
        return hash((self.name, self.layers))


class AliasInfo:
    """What an argument or a result shares memory with, and whether it is written."""

    def __init__(self, text: str):
        before, _, after = text.partition("->")
        self.text = text
        self.is_write = "!" in text
        self.before_set = {name.strip(" !") for name in before.split("|")}
        self.after_set = {name.strip() for name in after.split("|")} if after else self.before_set


class Argument:
    """An argument, or a result: its name, its type, its default."""

    def __init__(
        self,
        name: str,
        type: Type,
        alias_info: AliasInfo | None = None,
        default: tuple = (),
        kwarg_only: bool = False,
    ):
        self.name = name
        self.schema_type = type
        self.alias_info = alias_info
        self.kwarg_only = kwarg_only
        self._default = default

    @property
    def type(self) -> Type:
        """The type; it prints as Python would have it."""
        return self.schema_type

    @property
    def real_type(self) -> str:
        """The type with the names of the signature: `SymInt`, `ScalarType`."""
        return self.schema_type.real()

    @property
    def N(self) -> int | None:
        """How long a list has to be, for which a single number may stand; None: any length."""
        for layer in self.schema_type.layers:
            if layer not in ("?", "[]"):
                return int(layer[1:-1])
        return None

    @property
    def default_value(self) -> Any:
        """The default, None where there is none."""
        return self._default[0] if self._default else None

    def has_default_value(self) -> bool:
        """Whether it may be left out."""
        return bool(self._default)

    @property
    def is_write(self) -> bool:
        """Whether the operator writes it."""
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        """Whether it is written and named after the star: `out`."""
        return self.is_write and self.kwarg_only

    def __str__(self) -> str:
        mark = "" if self.alias_info is None else f"({self.alias_info.text})"
        text = self.schema_type.written(mark)
        if self.name:
            text += f" {self.name}"
        if self._default:
            text += f"={_number_or_word(self._default[0], self)}"
        return text


def _number_or_word(value: Any, argument: Argument) -> str:
    """A default as a signature has it."""
    if isinstance(value, str):
        return value if argument.schema_type.name == "Device" else f'"{value}"'
    if isinstance(value, float) and argument.schema_type.name in ("float", "Scalar"):
        return f"{int(value)}." if value.is_integer() and abs(value) < 1e15 else f"{value:.17g}"
    if isinstance(value, list):
        if argument.N is not None and len(set(value)) == 1:
            return _number_or_word(value[0], argument)
        return f"[{', '.join(_number_or_word(each, argument) for each in value)}]"
    if isinstance(value, Dtype):
        return str(value).removeprefix("torch.")
    return str(value)


class FunctionSchema:
    """The signature of an operator.

    >>> from tapegrad.library.schema import parse_schema
    >>> schema = parse_schema("mylib::scale(Tensor x, float by=1.0) -> Tensor")
    >>> schema
    mylib::scale(Tensor x, float by=1.) -> Tensor
    >>> [argument.name for argument in schema.arguments]
    ['x', 'by']
    """

    def __init__(
        self, name: str, overload_name: str, arguments: list[Argument], returns: list[Argument]
    ):
        self.name = name
        self.overload_name = overload_name
        self.arguments = arguments
        self.returns = returns
        self.several = len(returns) != 1  # whether results are a tuple
        self.recorded = ""  # as it was written down: a list of equal numbers may be one number

    @property
    def is_mutable(self) -> bool:
        """Whether an argument is written."""
        return any(argument.is_write for argument in self.arguments)

    @property
    def full_name(self) -> str:
        """The name with that of the overload: `aten::add.Tensor`."""
        return f"{self.name}.{self.overload_name}" if self.overload_name else self.name

    def __str__(self) -> str:
        if self.recorded:
            return self.recorded
        parts = []
        star = False
        for argument in self.arguments:
            if argument.kwarg_only and not star:
                parts.append("*")
                star = True
            parts.append(str(argument))
        returns = ", ".join(map(str, self.returns))
        if self.several or (self.returns and self.returns[0].name):
            returns = f"({returns})"
        return f"{self.full_name}({', '.join(parts)}) -> {returns}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


FunctionSchema.__module__ = Argument.__module__ = "torch"


def parse_schema(text: str) -> FunctionSchema:
    """The signature that a text has.

    Raises:
        RuntimeError: it is none.

    >>> from tapegrad.library.schema import parse_schema
    >>> parse_schema("f(Tensor(a!) x, int[2] n=1, *, str how='up') -> ()")
    f(Tensor(a!) x, int[2] n=1, *, str how="up") -> ()
    """
    return _Reader(text).schema()


class _Reader:
    """Reads a signature from left to right."""

    def __init__(self, text: str):
        self.text = text
        self.place = self.before = self.unnamed = 0
        self.word = ""
        self.next()

    def next(self) -> str:
        """The word here; the reader goes on to the one after it."""
        word = self.word
        found = _TOKEN.match(self.text, self.place)
        self.word = found[1] if found else ""
        self.before = found.start(1) if found else len(self.text)
        self.place = found.end() if found else len(self.text)
        return word

    def expect(self, word: str) -> None:
        """Step over a word that has to be here."""
        if self.word != word:
            found = _NAMES.get(self.word, self.word)
            raise self.error(f"expected {_NAMES.get(word, word)} but found '{found}' here:")
        self.next()

    def error(self, message: str) -> RuntimeError:
        """An error with the place where the reader is."""
        text = f"{message}\n{self.text}"
        if self.word:
            mark = " " * self.before + "~" * len(self.word)
            text += f"\n{mark} <--- HERE\n"
        return errors.runtime_error(text, "A signature reads: name(Tensor x, int n=1) -> Tensor")

    def schema(self) -> FunctionSchema:
        name = self.next()
        if self.word == "::":
            self.next()
            name += f"::{self.next()}"
        if not self.word:
            raise errors.runtime_error(
                "Tried to parse a function schema but only the operator name was given",
                "Add arguments and results: name(Tensor x) -> Tensor",
            )
        home, colons, name = name.rpartition("::")
        name, _, overload = name.partition(".")
        arguments = self.listed(kwargs=True)
        self.expect("->")
        if self.word == "(":
            returns = self.listed(kwargs=False)
        else:
            returns = [self.argument(False, named=False)]
        self.expect("")
        _check_order(arguments)
        return FunctionSchema(f"{home}{colons}{name}", overload, arguments, returns)

    def listed(self, kwargs: bool) -> list[Argument]:
        """Arguments or results in parentheses."""
        self.expect("(")
        found: list[Argument] = []
        star = False
        while self.word != ")":
            if found or star:
                self.expect(",")
            if kwargs and not star and self.word == "*":
                self.next()
                star = True
                continue
            found.append(self.argument(star, named=kwargs))
            if self.word not in (",", ")"):
                self.expect(")")
        self.next()
        return found

    def argument(self, kwarg_only: bool, named: bool) -> Argument:
        if self.word not in _KINDS:
            raise self.error(
                "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, "
                "float, bool, Scalar; for a full list, please see "
                "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func :"
            )
        kind = self.next()
        alias = None
        if self.word == "(":
            alias = AliasInfo(self.text[self.before + 1 : self.text.index(")", self.before)])
            while self.next() != ")":
                pass
        elif self.word == "!":
            self.next()
            alias = AliasInfo(f"${self.unnamed}! -> ")
            self.unnamed += 1
        layers = []
        while self.word in ("[", "?"):
            if self.next() == "?":
                layers.append("?")
                continue
            layers.append(f"[{self.next() if self.word != ']' else ''}]")
            self.expect("]")
        name = "" if not named and not self.word.isidentifier() else self.next()
        made = Argument(name, Type(kind, tuple(layers)), alias, (), kwarg_only)
        if self.word == "=":
            self.next()
            made._default = (self.default(made),)
        return made

    def default(self, argument: Argument) -> Any:
        kind = argument.schema_type.name
        if self.word == "[":
            self.next()
            found = []
            while self.word != "]":
                found.append(_value(self.next(), kind))
                if self.word != "]":
                    self.expect(",")
            self.next()
            return found
        if kind == "Tensor" and self.word != "None":
            what = "number" if self.word[:1].isdigit() else self.word
            raise self.error(f"expected None but found '{what}' here:")
        value = _value(self.next(), kind)
        return value if argument.N is None or value is None else [value] * argument.N


_WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None}


def _value(word: str, kind: str) -> Any:
    """What a word stands for as a default of a kind."""
    if word in _WORDS:
        return _WORDS[word]
    if word[:1] in "\"'":
        return word[1:-1]
    for number in (float,) if kind == "float" else (int, float):
        try:
            return number(word)
        except ValueError:
            continue
    return _named(word, kind)


def _named(word: str, kind: str) -> Any:
    """A dtype, a layout or a memory format by its name."""
    import tapegrad

    if kind == "Device":
        return word
    found = getattr(tapegrad, word, None)
    if found is None or kind not in ("ScalarType", "Layout", "MemoryFormat"):
        raise errors.runtime_error(
            f"the default {word} is none of {kind}", "Numbers, True, None and strings are defaults."
        )
    return found


def _check_order(arguments: list[Argument]) -> None:
    seen = False
    for argument in arguments:
        if argument.kwarg_only:
            return
        if seen and not argument.has_default_value():
            raise errors.runtime_error(
                "Non-default positional argument follows default argument. Parameter "
                f"{argument.name}",
                "Give it a default, or let it stand before those that have one.",
            )
        seen = seen or argument.has_default_value()
