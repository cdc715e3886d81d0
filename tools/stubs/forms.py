"""Declarations of native functions: an overload for each form in which they take arguments."""

import inspect
import keyword
import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple

import tapegrad
from tapegrad.core import native_arguments
from tapegrad.core.native_arguments import Form
from tapegrad.library import aten_schemas
from tools.stubs import words

SEPARATOR = r", (?![^\[]*\])"  # as in native_arguments.py
OPTIONS = frozenset("out dtype layout device pin_memory requires_grad".split())


class Argument(NamedTuple):
    """One parameter of a declaration."""

    name: str
    kind: str
    default: str | None = None
    named: bool = False
    star: bool = False  # any number of them

    def __str__(self) -> str:
        star = "*" * self.star
        return f"{star}{self.name}: {self.kind}" + (f" = {self.default}" if self.default else "")


class Declaration(NamedTuple):
    """One way to call a function, and what comes of it."""

    arguments: tuple[Argument, ...]
    result: str

    def lines(self, name: str, method: bool = False) -> list[str]:
        """The `def` statement; `method` adds `self`."""
        parts = ["self"] * method
        named = False
        for each in self.arguments:
            if each.named and not named:
                named = True
                if not any(a.star for a in self.arguments):
                    parts.append("*")
            parts.append(str(each))
        return [f"def {name}({', '.join(parts)}) -> {self.result}: ..."]


class Schema(NamedTuple):
    """An overload of an operator as PyTorch declares it."""

    arguments: dict[str, str]  # its types by name
    result: str


@cache
def schemas() -> dict[str, list[Schema]]:
    """The functional overloads of each operator."""
    found = defaultdict(list)
    for line in aten_schemas.lines():
        declared, _, tags = line.partition(" # ")
        if "out" in tags.split():
            continue
        name, _, rest = declared.partition("(")
        arguments, _, result = rest.rpartition(" -> ")
        kinds = {}
        for part in re.split(SEPARATOR, arguments[:-1]):
            kind, _, its_name = part.partition("=")[0].rpartition(" ")
            if kind:
                kinds["input" if its_name == "self" and not kinds else its_name] = kind
        found[name.partition(".")[0]].append(Schema(kinds, result))
    return found


def schema_of(name: str, form: Form) -> Schema | None:
    """The schema that is nearest to a form."""
    names = {p.name for p in form.parameters} - OPTIONS

    def distance(schema: Schema) -> int:
        return len((names ^ ({*schema.arguments} - OPTIONS)) - {"input"})

    known = schemas().get(name) or schemas().get(name + "_") or []
    return min(known, key=distance, default=None)


def result_of(name: str, written: str) -> str:
    """What a schema says is returned, as a type."""
    written = re.sub(r"\([a-z](!| -> \*)?\)", "", written)
    simple = {
        "Tensor": "Tensor",
        "Tensor[]": "tuple[Tensor, ...]",
        "()": "None",
        "bool": "_bool",
        "int": "_int",
        "SymInt": "_int",
        "float": "_float",
        "ScalarType": "_dtype",
        "Scalar": "_int | _float | _bool",
        "QScheme": "Any",
    }
    if written in simple:
        return simple[written]
    parts = written[1:-1].split(", ")
    bare = name.rstrip("_")
    if " " in parts[0] and bare in dir(tapegrad.return_types):
        return f"return_types.{bare}"
    kinds = [simple[part.split()[0]] for part in parts]
    return f"tuple[{', '.join(kinds)}]"


def default_of(written: str) -> str:
    """A default as Python writes it, or an ellipsis."""
    return written if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?|True|False|None", written) else "..."


def arguments_of(function: str, form: Form, schema: Schema | None) -> tuple[Argument, ...]:
    """The parameters of a form."""
    texts = [p for p in re.split(SEPARATOR, form.declared[1:-1]) if p not in ("", "*")]
    found = []
    numbers = function.rstrip("_") in native_arguments._NUMBERS_AS_TENSORS
    for parameter, written in zip(form.parameters, texts, strict=True):
        kind = words.KINDS[parameter.kind]
        if numbers and parameter.name in ("input", "other"):
            kind = "Scalar"
        if parameter.length and parameter.kind in words.ELEMENTS:
            kind = f"{words.ELEMENTS[parameter.kind]} | {kind}"
        declared = schema.arguments.get(parameter.name, "") if schema else ""
        if parameter.nullable or declared.endswith("?"):
            kind = words.or_none(kind)
        if parameter.name == "out":
            kind = "Out" if parameter.kind == "Tensor" else "Outs"
        default = written.partition(" = ")[2]
        default = default_of(default) if default or parameter.optional else None
        if default and default[-1].isdigit() and parameter.kind.startswith("torch."):
            default = "..."  # a number of PyTorch's enumerations
        found.append(Argument(parameter.name, kind, default, parameter.named))
    return tuple(found)


def declarations(name: str, forms: list[Form], method: bool = False) -> list[Declaration]:
    """The overloads of a native function or method."""
    found: list[Declaration] = []
    for form in forms:
        if form.deprecated:
            continue
        schema = schema_of(name, form)
        if schema is None:
            return []
        arguments = arguments_of(name, form, schema)
        result = result_of(name, schema.result)
        if any(keyword.iskeyword(a.name) for a in arguments) or any(
            a.name == "self" for a in arguments if method
        ):
            arguments = tuple(a._replace(name=f"__{a.name}") for a in arguments if not a.named)
        if form.takes_sizes or (method and _sizes_alone(arguments)):
            star = arguments[0]._replace(kind="_int", star=True, default=None)
            found.append(
                Declaration((star, *(a._replace(named=True) for a in arguments[1:])), result)
            )
        found.append(Declaration(arguments, result))
    return merged(found)


def _sizes_alone(arguments: tuple[Argument, ...]) -> bool:
    places = [a for a in arguments if not a.named]
    return len(places) == 1 and places[0].kind == "Sequence[_int]"


def merged(declared: list[Declaration]) -> list[Declaration]:
    """Overloads that differ in the type of one argument alone, as one."""
    found: list[Declaration] = []
    for new in declared:
        for i, old in enumerate(found):
            both = _both(old, new)
            if both is not None:
                found[i] = both
                break
        else:
            found.append(new)
    return found if len(found) == len(declared) else merged(found)


def _both(a: Declaration, b: Declaration) -> Declaration | None:
    if a.result != b.result:
        return None
    shorter = _same_but_for_one(a, b)
    if shorter is not None:
        return shorter
    for long, short in ((a, b), (b, a)):  # which the longer one covers
        named = {x.name: x for x in long.arguments}
        own = [named.get(x.name) for x in short.arguments]
        rest = [x for x in long.arguments if x.name not in {y.name for y in short.arguments}]
        if own == list(short.arguments) and all(x.default or x.star for x in rest):
            places = [x.name for x in long.arguments if not x.named]
            if places[: sum(not x.named for x in short.arguments)] == [
                x.name for x in short.arguments if not x.named
            ]:
                return long
    return None


def _same_but_for_one(a: Declaration, b: Declaration) -> Declaration | None:
    if [x._replace(kind="") for x in a.arguments] != [x._replace(kind="") for x in b.arguments]:
        return None
    differ = [i for i, (x, y) in enumerate(zip(a.arguments, b.arguments, strict=True)) if x != y]
    if len(differ) > 1:
        return None
    arguments = list(a.arguments)
    for i in differ:
        kind = words.either(arguments[i].kind, b.arguments[i].kind)
        arguments[i] = arguments[i]._replace(kind=kind)
    return Declaration(tuple(arguments), a.result)


def by_signature(function, result: str, method: bool = False) -> Declaration:
    """What Python's signature says, with `result`."""
    found = []
    parameters = [*inspect.signature(function).parameters.values()]
    if method and parameters:
        parameters = parameters[1:]
    for p in parameters:
        kind = "Any" if p.annotation is p.empty else words.text(p.annotation, function)
        if p.annotation is p.empty:
            kind = {"input": "Tensor", "out": "Out", "other": "Scalar"}.get(p.name, "Any")
        if p.kind is p.VAR_KEYWORD:
            found.append(Argument("**" + p.name, kind, None, True))
            continue
        default = None if p.default is p.empty else _default(p.default)
        named = p.kind is p.KEYWORD_ONLY
        star = p.kind is p.VAR_POSITIONAL
        if star and kind == "Shape":
            kind = "_int | Sequence[_int]"
        found.append(Argument(p.name, kind, default, named, star))
    return Declaration(tuple(found), result)


def _default(value: object) -> str:
    plain = value is None or type(value) in (bool, int, float, str)
    return repr(value) if plain and repr(value) not in ("inf", "nan") else "..."
