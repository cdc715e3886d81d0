"""Record the forms of arguments that PyTorch's native functions take, as its errors show them.

    python -m tools.record_forms            write core/native_forms.bz2
    python -m tools.record_forms --check    say whether it is up to date; 1 if it is not

It needs the extra `oracle`.

Functions of the same forms share them: a line with their names, then a line for each form. The last
line is of the functions that look first whether what they are given for `out=` has a graph.

Functions of several forms name them all when they are called with nonsense, and deprecated ones in
the warning of a call. The one form of the others is put together from the operator's schema.
"""

import bz2
import re
import sys
import types
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

import tapegrad
from tapegrad.core.native_arguments import Form, without_tensor
from tools.grouped import grouped

FILE = Path(__file__).resolve().parents[1] / "src" / "tapegrad" / "core" / "native_forms.bz2"
NATIVE = (types.BuiltinFunctionType, types.MethodDescriptorType)
TYPES = {
    "List[Tensor]": "tuple of Tensors",
    "List[Optional[Tensor]]": "tuple of Tensors",
    "List[int]": "tuple of ints",
    "List[float]": "tuple of floats",
    "List[bool]": "tuple of bools",
    "List[number]": "tuple of Scalars",
    "number": "Number",
    "Scalar": "Number",
    "ScalarType": "torch.dtype",
    "Device": "torch.device",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "Generator": "torch.Generator",
}


def schemas() -> dict[str, list]:
    """The schemas of each operator."""
    found = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        space, name = schema.name.split("::")
        if space == "aten":
            found[name].append(schema)
    return found


def parameter(argument: Any, is_method: bool) -> str:
    """One argument of a schema in the words of PyTorch's errors."""
    kind = str(argument.real_type)
    optional = kind.startswith("Optional[")
    if optional:
        kind = kind[len("Optional[") : -1]
    text = TYPES.get(kind, kind)
    if argument.N and text == "tuple of ints":
        text = f"tuple of ints[{argument.N}]"
    name = "input" if argument.name == "self" and not is_method else argument.name
    if argument.has_default_value():
        return f"{text} {name} = {argument.default_value}"
    return f"{text}{'?' if optional else ''} {name}"


def from_schema(name: str, found: list, is_method: bool, n_positional: int | None) -> str | None:
    """The form of a function that has one."""
    usable = [s for s in found if not any(a.is_out for a in s.arguments)]
    usable = [s for s in usable if not any("Dimname" in str(a.type) for a in s.arguments)]
    usable = [s for s in usable if not s.arguments or str(s.arguments[0].type) not in ("t", "str")]
    if is_method:
        usable = [s for s in usable if s.arguments and str(s.arguments[0].type) == "Tensor"]
    if n_positional is not None:
        usable = [
            s
            for s in usable
            if sum(not a.kwarg_only for a in s.arguments) - is_method == n_positional
        ]
    tensors = [s for s in usable if any("Tensor" in str(a.type) for a in s.arguments)]
    usable = tensors or usable
    if not usable:
        return None
    schema = usable[0]
    positional, named = [], []
    for argument in schema.arguments[1 if is_method else 0 :]:
        (named if argument.kwarg_only else positional).append(parameter(argument, is_method))
    outs = [s for s in found if any(a.is_out for a in s.arguments)]
    if outs and not is_method and name[-1] != "_":
        targets = [str(a.type) for a in outs[0].arguments if a.is_out]
        several = len(targets) > 1 or "List" in targets[0]
        named.append(f"{'tuple of Tensors' if several else 'Tensor'} out = None")
    kinds = {a.name for a in schema.arguments}
    if {"dtype", "layout", "device"} <= kinds:
        named.append("bool requires_grad = False")
    return "(" + ", ".join([*positional, *(["*", *named] if named else [])]) + ")"


def with_lengths(form: str, found: list) -> str:
    """A form with the lengths of its lists, where one number stands for all of them."""

    def length(match: re.Match) -> str:
        for schema in found:
            for argument in schema.arguments:
                if argument.name == match[1] and argument.N:
                    return f"tuple of ints[{argument.N}] {match[1]}"
        return match[0]

    return re.sub(r"tuple of ints (\w+)", length, form)


def with_marks(form: str, found: list) -> str:
    """A form with `?` behind the kind of what may be None though it has no default."""

    def mark(match: re.Match) -> str:
        named = [a for s in found for a in s.arguments if a.name == match[2]]
        named = [a for a in named if "Dimname" not in str(a.type)]
        nullable = named and all(str(a.real_type).startswith("Optional[") for a in named)
        return f"{match[1]}? {match[2]}" if nullable else match[0]

    return re.sub(r"(?:(?<=\()|(?<=, ))([A-Z\w][\w .]*(?:\[\d+\])?) (\w+)(?=[,)])", mark, form)


def takes_out(function: Any, form: str) -> bool:
    """Whether a function of one form takes `out=`, which some only have for other languages."""
    samples = {
        "Tensor": torch.ones(1),
        "Number": 1,
        "int": 1,
        "float": 1.0,
        "bool": True,
        "str": "none",
        "tuple of Tensors": [torch.ones(1)],
        "tuple of ints": [1],
        "tuple of floats": [1.0],
        "torch.dtype": torch.float32,
    }
    required = [each for each in form[1:-1].split(", ") if each != "*" and " = " not in each]
    args, kwargs = [], {"out": object()}
    for each in required:
        kind, _, name = re.sub(r"\[\d+\]|\?", "", each).rpartition(" ")
        kwargs[name] = samples.get(kind)
    try:
        function(*args, **kwargs)
    except TypeError as error:
        return "'out'" in str(error) and "unexpected" not in str(error)
    raise AssertionError(f"{function} took an object for out")


def forms_of(function: Any, name: str, found: list, is_method: bool) -> list[str]:
    """All forms of one function."""
    receiver = (torch.ones(1),) if is_method else ()
    text = ""
    n_positional = None
    for nonsense in ([object()] * 40, []):
        try:
            function(*receiver, *nonsense)
        except TypeError as error:
            text = str(error)
        except Exception:
            continue
        listed = re.findall(r"^ \* (\(.*\))$", text, re.M)
        alone = re.search(r"but expected (\(.*\))$", text)
        if listed or alone:
            found_forms = listed or [alone[1]]
            return [with_marks(with_lengths(form, found), found) for form in found_forms]
        if "takes no arguments" in text:
            return ["()"]
        takes = re.search(r"takes (?:from \d+ to )?(\d+) positional", text)
        if takes:
            n_positional = int(takes[1])
            break
    form = from_schema(name, found, is_method, n_positional)
    if form is not None and " out = None" in form and not takes_out(function, form):
        form = re.sub(r"(, )?(\*, )?[A-Z\w ]*Tensors? out = None", "", form)
    return [] if form is None else [form]


def deprecated() -> dict[str, list[str]]:
    """The forms that only warn."""
    torch.set_warn_always(True)
    a, b, v = torch.ones(1, 1), torch.ones(1, 1, 1), torch.ones(1)
    calls = {
        "add": [(a, 2, a)],
        "sub": [(a, 2, a)],
        "addcmul": [(a, 2, a, a)],
        "addcdiv": [(a, 2, a, a)],
        "addmm": [(2, a, 3, a, a), (2, a, a, a)],
        "addmv": [(2, v, 3, a, v), (2, v, a, v)],
        "addr": [(2, a, 3, v, v), (2, a, v, v)],
        "addbmm": [(2, a, 3, b, b), (2, a, b, b)],
        "baddbmm": [(2, b, 3, b, b), (2, b, b, b)],
    }
    found = defaultdict(list)
    for name, given in calls.items():
        for args in given:
            for key in (name, name + "_", "Tensor." + name, "Tensor." + name + "_"):
                rest = list(args)
                function: Any = getattr(torch, key, None)
                if key[:7] == "Tensor.":
                    first = next(x for x in rest if isinstance(x, torch.Tensor))
                    del rest[[x is first for x in rest].index(True)]
                    function = getattr(first.clone(), key[7:])
                if function is None:
                    continue
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    function(*rest)
                form = re.search(r"deprecated:\n\t\w+(\(.*\))\n", str(caught[0].message))
                found[key].append(form[1])
    return found


def name_with_out(key: str, form: Form) -> str | None:
    """What PyTorch calls a function that is given `out=` and a tensor with a graph; None if it
    does not look at that first."""
    spaces = {"linalg_": torch.linalg, "fft_": torch.fft, "special_": torch.special}
    spaces["nn_"] = torch.nn.functional
    prefix = next((each for each in spaces if key.startswith(each)), "")
    space = spaces.get(prefix, torch)
    samples = {
        "Tensor": torch.eye(3) + 0.1,
        "Number": 2,
        "float": 0.5,
        "bool": True,
        "str": "none",
        "torch.dtype": torch.float32,
        "tuple of Tensors": [torch.ones(3, 3, requires_grad=True)] * 2,
        "tuple of floats": [0.5],
    }
    given: dict[str, Any] = {}
    for each in form.parameters:
        if each.optional or each.name == "generator":
            continue
        place = 0 if "dim" in each.name else 1
        given[each.name] = {"int": place, "tuple of ints": [place] if not place else [3, 3]}.get(
            each.kind, samples.get(each.kind)
        )
        if each.kind == "Tensor" and "ind" in each.name:
            given[each.name] = torch.zeros(3, 3, dtype=torch.int64)
        elif each.kind == "Tensor" and each.name in ("mask", "condition"):
            given[each.name] = torch.ones(3, 3, dtype=torch.bool)
        elif each.kind == "Tensor":
            given[each.name] = given[each.name].clone().requires_grad_()
    kind = next(each.kind for each in form.parameters if each.name == "out")
    for n in (1,) if kind == "Tensor" else (2, 3, 4):
        outs = tuple(torch.zeros(0) for _ in range(n))
        try:
            getattr(space, key[len(prefix) :])(**given, out=outs[0] if n == 1 else outs)
        except Exception as error:
            found = re.match(r"(\S+)\(\): functions with out=", str(error))
            if found:
                # Transforms look at the dimensions before the kernel looks at graphs.
                return None if found[1].startswith("_fft_") else found[1]
    return None


def graph_line(functions: dict[str, list[str]]) -> str:
    """The functions that look first whether a tensor has a graph, with other names they have."""
    found = {}
    for key, texts in functions.items():
        if key.startswith("Tensor."):
            continue
        for text in texts:
            form = Form(text)
            if not text.startswith("deprecated") and " out = None" in text:
                name = name_with_out(key, form)
                if name is not None:
                    found.setdefault(key.removeprefix("nn_"), name)
    names = [key if key == name else f"{key}={name}" for key, name in found.items()]
    return f"out= {' '.join(names)}"


def method_forms(functions: dict[str, list[str]], key: str) -> list[str]:
    """The forms of a method where they are those of the function, without the tensor and `out`."""
    if key[:7] != "Tensor.":
        return []
    return [without_tensor(form) for form in functions.get(key[7:], ())]


def main(given: list[str]) -> int:
    """Write the file, or compare with what it is."""
    known = schemas()
    old = deprecated()
    table: dict[str, list[str]] = {}
    functions: dict[str, list[str]] = {}
    spaces = (
        ("", torch, tapegrad),
        ("linalg_", torch.linalg, tapegrad.linalg),
        ("fft_", torch.fft, tapegrad.fft),
        ("special_", torch.special, tapegrad.special),
        ("nn_", torch._C._nn, tapegrad.nn.functional),
        ("Tensor.", torch.Tensor, tapegrad.Tensor),
    )
    for prefix, theirs, ours in spaces:
        for name in dir(theirs):
            function = getattr(theirs, name)
            if prefix == "nn_":
                function = getattr(torch.nn.functional, name, None)
            if name[0] == "_" or not hasattr(ours, name) or name in ("new", "tensor"):
                continue
            if not isinstance(function, NATIVE):
                if prefix == "Tensor." and callable(function) and name in functions:
                    table[prefix + name] = []
                continue
            schema = (prefix if prefix not in ("Tensor.", "nn_") else "") + name
            key = prefix + name
            found = forms_of(function, name, known[schema], prefix == "Tensor.")
            functions[key] = [*found, *(f"deprecated {form}" for form in old[key])]
    for key, found in functions.items():
        if found and found != method_forms(functions, key):
            table[key] = list(dict.fromkeys(found))
    warnings.simplefilter("ignore")
    lines = [*grouped(table), graph_line(functions)]
    text = "\n".join(lines) + "\n"
    if "--check" in given:
        written = bz2.decompress(FILE.read_bytes()).decode()
        print(*sorted(set(written.splitlines()) ^ set(text.splitlines())), sep="\n")
        return int(written != text)
    FILE.write_bytes(bz2.compress(text.encode()))
    missing = [key for key, found in functions.items() if not found]
    print(f"{len(functions)} functions, {len(lines)} forms; none found: {' '.join(missing)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
