"""The house has floors: a file imports from its own floor and from those below.

Imports inside functions count, and so do names of modules in strings (tables of what is loaded on
first use); imports for type checkers alone do not.
"""

import ast
from pathlib import Path

import pytest

import tapegrad
from tests.command import python

ROOT = Path(tapegrad.__file__).parent
FLOORS = ("core", "arrays", "autograd", "dispatch", "operators", "tensors", "frontends")

# Files that PyTorch has at the top level, or in `autograd`, and which stand on another floor.
ELSEWHERE = {
    "lazy_names": "frontends",
    "linalg": "operators",  # the names of `torch.linalg`, each an operator
    "random": "core",
    "return_types": "core",
    "sparse": "tensors",
    "version": "core",
    "autograd": "frontends",
    "autograd.forward_ad": "tensors",
    "autograd.functional": "frontends",
    "autograd.gradcheck": "frontends",
    "autograd.grad_mode": "frontends",
    "autograd.graph": "frontends",
    "autograd.profiler": "frontends",
    "autograd.profiler_util": "frontends",
    "autograd.variable": "frontends",
}

# Upward imports that stand, at most twelve: pairs of files, each with its reason.
EXCEPTIONS: dict[tuple[str, str], str] = {}


def modules():
    """Every file of the package by its dotted name; "" is the front door."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def floor_of(name):
    """The number of a file's floor."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        prefix = ".".join(parts[:n])
        if prefix in ELSEWHERE and (n == len(parts) or prefix != "autograd"):
            return FLOORS.index(ELSEWHERE[prefix])
    return FLOORS.index(parts[0]) if parts[0] in FLOORS else len(FLOORS) - 1


def imports_of(tree):
    """The files of the package that a file names, in imports or in strings."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            skipped.update(id(x) for each in node.body for x in ast.walk(each))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        else:
            continue
        for name in names:
            inside = name.removeprefix("tapegrad.")
            if inside == name:
                continue
            for known in (inside, inside.rpartition(".")[0]):
                if known and known in MODULES:
                    yield known
                    break


IMPORTS = {
    name: sorted(set(imports_of(ast.parse(path.read_text(encoding="utf-8")))))
    for name, path in MODULES.items()
    if name
}


def upward():
    """Pairs of a file and one on a higher floor that it imports."""
    return [
        (name, other)
        for name, others in IMPORTS.items()
        for other in others
        if floor_of(other) > floor_of(name)
    ]


def test_imports_go_down():
    unexplained = [
        f"{name} ({FLOORS[floor_of(name)]}) imports {other} ({FLOORS[floor_of(other)]})"
        for name, other in upward()
        if (name, other) not in EXCEPTIONS
    ]
    assert unexplained == []


def test_the_exceptions_are_few_and_needed():
    assert len(EXCEPTIONS) <= 12
    assert set(EXCEPTIONS) <= set(upward())


def test_an_upward_import_is_seen():
    tree = ast.parse("def f():\n    from tapegrad.nn import functional\n")
    assert list(imports_of(tree)) == ["nn.functional"]
    assert floor_of("nn.functional") > floor_of("operators.nn.conv")
    assert list(imports_of(ast.parse('x = "tapegrad.tensors.tensor"'))) == ["tensors.tensor"]
    assert list(imports_of(ast.parse("if TYPE_CHECKING:\n    import tapegrad.nn"))) == []


def circles():
    """Sets of files that import one another, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in IMPORTS[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            start = stack.index(name)
            found.append(stack[start:])
            del stack[start:]

    for name in IMPORTS:
        if name not in index:
            visit(name)
    return found


def test_no_more_than_nine_files_import_one_another():
    largest = max(circles(), key=len)
    assert len(largest) <= 9, largest


FLOORS_ALONE = [each for each in FLOORS if each in MODULES and each != "autograd"]


@pytest.mark.parametrize("floor", FLOORS_ALONE)
def test_a_floor_is_not_served_as_a_module_of_pytorch(floor):
    result = python("-c", f"from tapegrad import compat; compat.install(); import torch.{floor}")
    assert f"ModuleNotFoundError: No module named 'torch.{floor}'" in result.stderr


# The modules and packages of PyTorch 2.13 at its top level, and modules that are its attributes.
PYTORCHS = """
_C _C_flatbuffer _VF __config__ _appdirs _awaits _classes _compile _custom_op _custom_ops
_decomp _dispatch _dynamo _environment _export _functorch _guards _higher_order_ops _inductor
_jit_internal _lazy _library _linalg_utils _lobpcg _logging _lowrank _meta_registrations _native
_numpy _opaque_base _ops _prims _prims_common _python_dispatcher _refs _size_docs _sources
_storage_docs _streambase _strobelight _subclasses _tensor _tensor_docs _tensor_iterator
_tensor_str _thread_safe_fork _torch_docs _utils _utils_internal _vendor _vmap_internals
_weights_only_unpickler accelerator amp ao autograd backends builtins classes compiler contrib
cpp cpu csrc ctypes cuda distributed distributions export fft func functional functools futures
fx glob hub importlib inspect jit library linalg masked math monitor mps mtia multiprocessing
nativert nested nn numa onnx ops optim os overrides package platform profiler quantization
quasirandom random return_types serialization signal sparse special storage sys test testing
textwrap threading torch torch_version types utils version warnings windows xpu
"""
SERVED = (
    "amp autograd backends compiler cpu cuda distributed distributions fft func futures fx hub jit "
    "library linalg masked multiprocessing nn ops optim overrides profiler quasirandom random "
    "return_types "
    "serialization signal sparse special storage testing torch_version utils version"
)
NOT_PYTORCHS = {"inspect"}  # Python's own module, which PyTorch happens to import


def test_no_file_has_the_name_of_something_of_pytorchs_that_it_does_not_serve():
    ours = {name.partition(".")[0] for name in MODULES} - {""}
    assert ours & set(PYTORCHS.split()) == set(SERVED.split()) | NOT_PYTORCHS


def test_what_is_served_is_there():
    for name in SERVED.split():
        assert getattr(tapegrad, name).__name__ == f"tapegrad.{name}"
