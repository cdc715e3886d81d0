"""The stubs of modules, and of the class of tensors."""

import inspect
import re
import subprocess
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import tapegrad
from tapegrad.core.native_arguments import _forms_of_method, forms_of
from tapegrad.lazy_names import function_names
from tapegrad.operators.loading import load_operators
from tapegrad.tensors.methods.missing import Missing
from tools.name_tables import module_of
from tools.stubs import known, words
from tools.stubs.forms import Declaration, by_signature, declarations

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
OUR_TYPES = {
    "Compiled": "tapegrad.compiler.compiled",
    "Generator": "tapegrad.core.generator",
    "GradientEdge": "tapegrad.autograd.gradient_edge",
    "Module": "tapegrad.nn.modules.module",
    "Node": "tapegrad.autograd.node",
    "Parameter": "tapegrad.nn.parameter",
    "RemovableHandle": "tapegrad.autograd.hooks",
    "Size": "tapegrad.core.size",
    "Tensor": "tapegrad.tensors.tensor",
    "TypedStorage": "tapegrad.operators.creation.typed_storage",
    "UntypedStorage": "tapegrad.core.untyped_storage",
}
MODULES = [
    "tapegrad",
    *(
        f"tapegrad.{name}"
        for name in (
            "autograd autograd.graph distributions fft linalg nn nn.functional nn.modules optim "
            "profiler signal.windows special utils".split()
        )
    ),
]
"""Modules whose source says too little to a type checker."""
SUBMODULES = {
    "tapegrad": "_C _VF _dynamo _functorch _higher_order_ops accelerator ao export mps mtia nested "
    "onnx package quantization types xpu",
    "tapegrad.autograd": "forward_ad function functional graph profiler",
    "tapegrad.nn": "attention common_types grad parallel parameter",
    "tapegrad.nn.modules": "activation batchnorm container conv dropout lazy linear loss module "
    "normalization padding pooling rnn sparse transformer upsampling utils",
    "tapegrad.utils": "_pytree flop_counter module_tracker",
}
"""What modules have on demand beside the names that `dir` shows."""


def result(function: Any, name: str) -> str:
    """What a function returns that has no schema."""
    if name in known.RESULTS:
        return known.RESULTS[name]
    if name[:9] == "_foreach_":  # in place it is what was given
        return "Sequence[Tensor]" if name[-1] == "_" else "tuple[Tensor, ...]"
    annotation = inspect.signature(function).return_annotation
    if annotation not in (inspect.Parameter.empty, Any, "Any", tuple):
        found = words.text(annotation, function)
        wrapped = getattr(function, "__wrapped__", None)
        if inspect.isgeneratorfunction(wrapped) and not inspect.isgeneratorfunction(function):
            return found.replace("Iterator", "AbstractContextManager")  # of @contextmanager
        return found
    home = function.__module__ or ""
    if home.startswith("tapegrad.compat.torch._higher_order_ops."):
        return "Any"
    if annotation is not tuple and home.startswith(
        (
            "tapegrad.operators.",
            "tapegrad.nn.functional.",
            "tapegrad.tensors.",
            "tapegrad.sparse.",
            "tapegrad.signal.",
        )
    ):
        return "Tensor"
    raise LookupError(f"what does {home}.{name} return? Say it in its annotation or in known.py")


def function_stub(function: Any, name: str) -> list[str]:
    """The declarations of a function."""
    if name in known.DECLARED:
        return known.DECLARED[name]
    if "return_indices" in inspect.signature(function).parameters:
        return written(with_indices(function, name), name)
    native, forms = forms_of(function)
    found = declarations(native, forms) if forms else []
    return written(found or [by_signature(function, result(function, name))], name)


def with_indices(function: Any, name: str) -> list[Declaration]:
    """The declarations of a pooling that returns indices where it is asked for them."""
    whole = by_signature(function, "tuple[Tensor, Tensor]")
    if name.endswith("_with_indices"):
        return [whole]
    place = [a.name for a in whole.arguments].index("return_indices")
    before, (asked, *after) = whole.arguments[:place], whole.arguments[place:]
    no, either = (asked._replace(kind=kind) for kind in ("Literal[False]", "_bool"))
    yes = asked._replace(kind="Literal[True]", default=None, named=True)
    named = (a._replace(named=True) for a in after)
    return [
        Declaration((*before, no, *after), "Tensor"),
        Declaration((*before, yes, *named), whole.result),
        Declaration((*before, either, *after), "Any"),
    ]


def written(found: list[Declaration], name: str, method: bool = False) -> list[str]:
    """Declarations as text, overloads where there are several."""
    lines = []
    for each in found:
        if len(found) > 1:
            lines.append("@overload")
        lines += each.lines(name, method)
    return lines


# --- a module ------------------------------------------------------------------------------------


@cache
def declared_in() -> dict[str, list[str]]:
    """The modules that declare a class, by its name."""
    found = defaultdict(list)
    for path in sorted((SOURCE / "tapegrad").rglob("*.py")):
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found[name].append(module_of(path))
    return found


def public(module: types.ModuleType) -> list[str]:
    """The names that a module has for its users."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    found = []
    for name in sorted({*dir(module), *(function_names() if module is tapegrad else ())}):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or getattr(value, "__name__", "")
        ours = not isinstance(home, str) or home.partition(".")[0] in ("tapegrad", "torch", "")
        if ours and (name[0] != "_" or module is tapegrad) and not is_system(name):
            found.append(name)
    return found


def is_system(name: str) -> bool:
    """Whether Python has the name for every module."""
    return name[:2] == "__" and name != "__version__"


def module_stub(module: types.ModuleType) -> str:
    """The stub of a module: functions are declared, everything else is imported."""
    lines: list[str] = []
    imports: dict[str, set[str]] = {}
    more = SUBMODULES.get(module.__name__, "").split()
    for name in dict.fromkeys([*public(module), *more]):
        value = getattr(module, name)
        if isinstance(value, types.FunctionType):
            lines += function_stub(value, name)
        elif isinstance(value, types.ModuleType):
            parent, _, own = value.__name__.rpartition(".")
            imports.setdefault("." if parent == module.__name__ else parent, set()).add(
                f"{own} as {name}"
            )
        else:
            lines += value_stub(value, name, module, imports)
    return assembled(lines, imports, module.__name__)


def value_stub(
    value: Any, name: str, module: types.ModuleType, imports: dict[str, set[str]]
) -> list[str]:
    """The declaration of a class or a constant, or its import."""
    if isinstance(value, type):
        if name.endswith("Tensor") and name != "Tensor":
            return [f"class {name}(Tensor): ..."]
        if name.endswith("Storage") and name not in ("TypedStorage", "UntypedStorage"):
            return [f"class {name}(TypedStorage): ..."]
        for own, home in ((n, home) for n in (value.__name__, name) for home in declared_in()[n]):
            if getattr(import_module(home), own, None) is value:
                break
        else:
            if value.__module__ != "tapegrad.jit.types":
                raise LookupError(f"{module.__name__}.{name} is in no file under its name")
            return [f"{name}: type[Any]"]
        imports.setdefault(home, set()).add(f"{own} as {name}")
        return []
    if value is None:
        return [f"{name}: None"]
    own = type(value).__name__
    if own not in public(module):
        for home in declared_in()[own]:
            imports.setdefault(home, set()).add(own)
    return [f"{name}: {words.text(type(value), None)}"]


def assembled(lines: list[str], imports: dict[str, set[str]], module: str) -> str:
    """A stub from its declarations, with the imports that it needs."""
    body = "\n".join(lines)
    used = [text for name, text in known.VARIABLES.items() if re.search(rf"\b{name}\b", body)]
    variables = "\n".join(used)
    given = {each.partition(" as ")[2] for found in imports.values() for each in found}
    for name, home in OUR_TYPES.items():
        mentioned = re.search(rf"(?<![\w.]){name}\b", variables + body)
        if mentioned and name not in given and home != module:
            imports.setdefault(home, set()).add(name)
    if "return_types." in body and "return_types as return_types" not in imports.get(".", ()):
        imports.setdefault("tapegrad", set()).add("return_types")
    extra = [
        f"from {home} import {each}" for home in sorted(imports) for each in sorted(imports[home])
    ]
    return pruned("\n".join([words.HEAD, *extra, "", variables, "", body, ""]))


def pruned(text: str) -> str:
    """The text formatted, without imports that it does not use."""
    for step in ("check -q --fix-only --select F401,I", "format -q"):
        command = [sys.executable, "-m", "ruff", *step.split(), "--stdin-filename", "x.pyi", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr or done.stdout}")
        text = done.stdout
    return f"# Written by `python -m tools.stubs`.\n\n{text}"


# --- the class of tensors ------------------------------------------------------------------------


def tensor_stub() -> str:
    """The stub of `tapegrad.tensors.tensor`."""
    lines = ["class Tensor:"]
    for line in members():
        lines.append("    " + line)
    return assembled(lines, {}, "tapegrad.tensors.tensor")


def members() -> Iterator[str]:
    """The lines of the class."""
    tensor = tapegrad.Tensor
    for name, kind in known.PRIVATE.items():
        yield f"{name}: {kind}"
    yield "def __new__(cls, *args: Any, **kwargs: Any) -> Self: ..."
    for name in ("__eq__", "__ne__"):
        yield f"def {name}(self, other: Any, /) -> Tensor: ...  # type: ignore[override]"
    yield "@classmethod"
    yield (
        "def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) "
        "-> Any: ..."
    )
    for name in dir(tensor):
        value = inspect.getattr_static(tensor, name)
        bare = name.strip("_")
        if name in known.SPECIAL:
            yield f"def {name}{known.SPECIAL[name]}: ..."
        elif name[:2] == "__":
            if bare in known.BINARY:
                yield f"def {name}(self, other: Scalar | np.ndarray, /) -> Tensor: ..."
        elif isinstance(value, Missing):
            continue
        elif name in known.ATTRIBUTES or (
            name[:3] == "is_" and not callable(getattr(tensor, name))
        ):
            yield from attribute(name, known.ATTRIBUTES.get(name, "_bool"))
        elif name in known.METHODS:
            yield from known.METHODS[name]
        elif callable(found := getattr(tensor, name)) and isinstance(
            found, (types.FunctionType, types.MethodType)
        ):
            if name[0] != "_":
                yield from method_stub(found, name)
        elif name[0] != "_":
            raise LookupError(f"what is Tensor.{name}? Say it in known.py")


def is_flag(name: str) -> bool:
    """Whether an attribute of tensors is a truth value."""
    return name[:3] == "is_" and not callable(getattr(tapegrad.Tensor, name))


def attribute(name: str, kind: str) -> Iterator[str]:
    yield "@property"
    yield f"def {name}(self) -> {kind}: ..."
    if name in known.SETTABLE:
        yield f"@{name}.setter"
        yield f"def {name}(self, value: {kind}) -> None: ..."


def method_stub(function: Any, name: str) -> list[str]:
    """The declarations of a method."""
    forms = _forms_of_method(name)
    found = declarations(name, forms, method=True) if forms else []
    if not found:
        found = [by_signature(function, result(function, name), method=True)]
    return written(found, name, method=True)


def return_types_stub() -> str:
    """The stub of the named tuples."""
    lines = []
    for name in sorted(dir(tapegrad.return_types)):
        kind = getattr(tapegrad.return_types, name)
        if isinstance(kind, type) and name != "ReturnType" and hasattr(kind, "_fields"):
            kinds = ["Tensor"] * len(kind._fields)
            if name == "histogramdd":
                kinds[1] = "tuple[Tensor, ...]"
            lines.append(f"class {name}(tuple[{', '.join(kinds)}]):")
            for field, its in zip(kind._fields, kinds, strict=True):
                lines += ["    @property", f"    def {field}(self) -> {its}: ..."]
    return assembled(lines, {}, "tapegrad.return_types")


def stubs() -> dict[Path, str]:
    """The text of each stub by its path."""
    load_operators()
    package = SOURCE / "tapegrad"
    return {
        package / "tensors" / "tensor.pyi": tensor_stub(),
        package / "return_types.pyi": return_types_stub(),
        **{stub_path(name): module_stub(import_module(name)) for name in MODULES},
    }


def stub_path(module: str) -> Path:
    """Where the stub of a module is: beside its source."""
    source = import_module(module).__file__
    assert source is not None
    return Path(source).with_suffix(".pyi")
