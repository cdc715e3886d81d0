"""Write the tables that say in which file a name is, from the decorators and lists in the files.

    python -m tools.name_tables            write them
    python -m tools.name_tables --check    say which are not up to date; 1 if there are any

Kernels, batching rules and kernels on tensors are registered by the decorators of
`tapegrad.arrays.kernel`; functions of `torch` that are loaded on their first use are in `__torch__`
of their file.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
NUMPY = SOURCE / "tapegrad/arrays/numpy"
BATCHED = SOURCE / "tapegrad/arrays/batched"
META = SOURCE / "tapegrad/arrays/meta"
WIDTH = 100


def registered(path: Path, decorator: str) -> Iterator[tuple[str, set[str]]]:
    """The names that a file registers with a decorator, each with its options."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            for each in node.decorator_list:
                call = each if isinstance(each, ast.Call) else None
                function = call.func if call else each
                if isinstance(function, ast.Name) and function.id == decorator:
                    yield node.name, {str(k.arg) for k in call.keywords} if call else set()
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Name) and function.id == decorator:
                yield from ((name.id, set()) for name in node.targets if isinstance(name, ast.Name))


def names_of_torch(path: Path) -> list[str]:
    """What a file says it has of the names of `torch`."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__torch__":
            return sorted(ast.literal_eval(node.value).split())
    return []


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def by_file(paths: Iterator[Path], decorator: str) -> dict[str, list[str]]:
    found = {module_of(p): sorted(name for name, _ in registered(p, decorator)) for p in paths}
    return {file: names for file, names in sorted(found.items()) if names}


def with_option(option: str) -> list[str]:
    files = sorted(NUMPY.glob("*.py"))
    return sorted(n for path in files for n, given in registered(path, "kernel") if option in given)


# --- the text of a table -------------------------------------------------------------------------


def string(names: list[str], before: str, after: str) -> str:
    """Names in one string, on several lines where one is too short."""
    whole = f'{before}"{" ".join(names)}"{after}'
    if len(whole) <= WIDTH:
        return whole
    indent = " " * (len(before) - len(before.lstrip()))
    alone = f'{indent}    "{" ".join(names)}"'
    if len(alone) <= WIDTH:
        return f"{before}(\n{alone}\n{indent}){after}"
    lines, line = [], ""
    for name in names:
        if len(indent) + len(line) + len(name) + 7 > WIDTH:
            lines.append(line)
            line = ""
        line += name + " "
    lines.append(line.rstrip())
    body = "\n".join(f'{indent}    "{each}"' for each in lines)
    return f"{before}(\n{body}\n{indent}){after}"


def table(name: str, files: dict[str, list[str]]) -> str:
    rows = [string(names, f'    "{file}": ', ",") for file, names in files.items()]
    return f"{name}: dict[str, str] = {{\n" + "\n".join(rows) + "\n}\n"


def tables() -> dict[Path, str]:
    """The text of each table by its path."""
    kernels = by_file((p for p in NUMPY.glob("*.py") if p.stem != "namespace"), "kernel")
    operators = (SOURCE / "tapegrad/operators").rglob("*.py")
    on_tensors = [*operators, *(SOURCE / "tapegrad/tensors/arrays").glob("*.py")]
    torch = {
        module_of(path): names
        for path in sorted((SOURCE / "tapegrad").rglob("*.py"))
        if (names := names_of_torch(path))
    }
    options = {"ELEMENTWISE": "elementwise", "TRAILING": "trailing", "OPTIONAL": "optional"}
    found = {
        NUMPY / "kernel_table.py": ("Kernels of NumPy arrays", table("KERNELS", kernels)),
        BATCHED / "rule_table.py": (
            "Batching rules, and kernels that need none",
            table("RULES", by_file(BATCHED.glob("*.py"), "batching_rule"))
            + "".join(string(with_option(o), f"{n} = ", "\n") for n, o in options.items()),
        ),
        META / "rule_table.py": (
            "Rules of shapes for the meta device",
            table("META_RULES", by_file(META.glob("*.py"), "meta_rule")),
        ),
        SOURCE / "tapegrad/tensors/arrays/kernel_table.py": (
            "Kernels on tensors",
            table("TENSOR_KERNELS", by_file(iter(on_tensors), "tensor_kernel")),
        ),
        SOURCE / "tapegrad/lazy_table.py": (
            "Functions of `torch` that are loaded on their first use",
            table("FUNCTIONS", torch),
        ),
    }
    return {
        path: f'"""{head}, by file.\n\nWritten by `python -m tools.name_tables`.\n"""\n\n{text}'
        for path, (head, text) in found.items()
    }


def outdated() -> list[Path]:
    """The tables whose files say something else."""
    return [
        path
        for path, text in tables().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    stale = outdated()
    for path in stale:
        print(path.relative_to(ROOT))
        if "--check" not in arguments:
            path.write_text(tables()[path], encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
